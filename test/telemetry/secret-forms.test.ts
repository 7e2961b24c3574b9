import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from '@jest/globals';
import { newApiKey } from '../../src/identifiers/api-key.js';
import { newClientSecret } from '../../src/identifiers/client-secret.js';
import { newRowId, newSecret } from '../../src/identifiers/random-secrets.js';
import { newServiceToken } from '../../src/identifiers/service-token.js';
import { refreshTokens } from '../../src/keys/subkeys.js';
import { scrub } from '../../src/telemetry/log.js';

const ROOT = join(import.meta.dirname, '../../src');

/** Each file that makes random values, with an example of its secrets; undefined for those without one. */
const makers: Record<string, (() => string) | undefined> = {
  'cli/supervisor/child-environments.ts': () => `edge_live_${randomBytes(32).toString('hex')}`,
  'domain/platform/organization/new-roles.ts': undefined,
  'domain/sign-on/tokens/tokens.ts': undefined,
  'domain/version.ts': undefined,
  'domain/webhooks/subscriptions/secrets.ts': () => `whsec_${randomBytes(32).toString('base64')}`,
  'files/staged.ts': undefined,
  'identifiers/api-key.ts': () => newApiKey('live'),
  'identifiers/base62.ts': undefined,
  'identifiers/client-secret.ts': () => newClientSecret('live'),
  'identifiers/public-id.ts': undefined,
  'identifiers/random-secrets.ts': newSecret,
  'identifiers/record-id.ts': undefined,
  'identifiers/service-token.ts': () => newServiceToken('operator', 'demo'),
  'keys/passphrase-box.ts': undefined,
  'keys/sealed-box.ts': undefined,
  'keys/secrets-key.ts': undefined,
  'keys/subkeys.ts': () => refreshTokens(randomBytes(32)).seal(newRowId(), 1),
  'store/adapters/lives.ts': undefined,
  'store/migrations/0030-sequence-of-changes.ts': undefined,
};

const secrets = Object.entries(makers).flatMap(([file, make]) => (make ? [[file, make] as const] : []));

test('every file that makes something random says here what its secrets look like', () => {
  const found = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('sdk/'))
    .filter((file) =>
      /\b(randomBytes|randomFillSync|randomBase62)\(/.test(readFileSync(join(ROOT, file), 'utf8')),
    )
    .map((file) => relative(ROOT, join(ROOT, file)));
  expect(found.sort()).toEqual(Object.keys(makers).sort());
});

test.each(secrets)('no log line keeps a secret of %s', (_, make) => {
  for (let round = 0; round < 200; round += 1) {
    const secret = make();
    const useful = secret.slice(-24);
    for (const line of [secret, `code=${secret}&x`, `{"a":"\\n${secret}"}`, `cookie: __Host-s=${secret};`]) {
      expect(scrub(line)).not.toContain(useful);
    }
    expect(() => JSON.parse(scrub(JSON.stringify({ stack: `Error:\n${secret}` })))).not.toThrow();
  }
});
