import { once } from 'node:events';
import fs, { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { type DemoFile, demoFilePath, readDemoFile, writeDemoFile } from '../../../src/cli/demo/demo-file.js';
import { exitCodeOfStart, StartupError } from '../../../src/cli/startup-error.js';
import { newApiKey } from '../../../src/identifiers/api-key.js';
import { newClientSecret } from '../../../src/identifiers/client-secret.js';
import { newServiceToken } from '../../../src/identifiers/service-token.js';
import { startScript } from '../../support/run-script.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';

const application = {
  clientId: 'app_portal',
  clientSecret: newClientSecret('demo'),
  type: 'confidential',
  name: 'Portal',
  requirePkce: false,
  redirectUris: [{ uri: 'http://localhost:8400/callback', instanceId: 'ins_harborlight' }],
  scopes: ['openid'],
};
const person = { email: 'ada@example.com', password: 'secret', note: 'a user' };
const apiKey = { key: newApiKey('demo'), integrationId: 'itg_one', instanceIntegrationIds: ['iin_one'] };

const whole: DemoFile = {
  baseUrl: 'http://localhost:4000',
  gatewayUrl: 'http://localhost:4001',
  grpcAddress: '127.0.0.1:4002',
  operatorToken: newServiceToken('operator', 'demo'),
  platformToken: newServiceToken('platform', 'demo'),
  supportToken: newServiceToken('support', 'demo'),
  auditorToken: newServiceToken('auditor', 'demo'),
  keyCustodianToken: newServiceToken('key_custodian', 'demo'),
  demoAppUrl: 'http://localhost:4004',
  temporalUiUrl: 'http://localhost:8233/namespaces/demo/workflows',
  docsUrl: null,
  applications: [application],
  people: [person],
  apiKeys: [apiKey],
};

const faults: { what: string; spoilt: object; left: Partial<DemoFile> }[] = [
  { what: 'a token that is a number', spoilt: { operatorToken: 42 }, left: { operatorToken: undefined } },
  { what: 'an empty token', spoilt: { platformToken: '' }, left: { platformToken: undefined } },
  {
    what: 'the token of the other kind',
    spoilt: { platformToken: whole.operatorToken },
    left: { platformToken: undefined },
  },
  { what: 'an address that is a list', spoilt: { grpcAddress: [] }, left: { grpcAddress: undefined } },
  { what: 'keys that are no list', spoilt: { apiKeys: { key: 1 } }, left: { apiKeys: undefined } },
  { what: 'a key that is null', spoilt: { apiKeys: [null, apiKey] }, left: { apiKeys: [apiKey] } },
  {
    what: 'a key of live',
    spoilt: { apiKeys: [{ ...apiKey, key: newApiKey('live') }] },
    left: { apiKeys: [] },
  },
  {
    what: 'a key of nothing',
    spoilt: { apiKeys: [{ ...apiKey, instanceIntegrationIds: [7] }] },
    left: { apiKeys: [] },
  },
  {
    what: 'an application that is a number',
    spoilt: { applications: [5, application] },
    left: { applications: [application] },
  },
  {
    what: 'a secret of live',
    spoilt: { applications: [{ ...application, clientSecret: newClientSecret('live') }] },
    left: { applications: [] },
  },
  {
    what: 'redirect URIs that are texts',
    spoilt: { applications: [{ ...application, redirectUris: ['http://localhost'] }] },
    left: { applications: [] },
  },
  { what: 'a person without a password', spoilt: { people: [{ email: 'a@b' }] }, left: { people: [] } },
];

describe('demo.json', () => {
  const newDirectory = temporaryDirectories();

  function holding(content: string) {
    const path = demoFilePath(newDirectory());
    writeFileSync(path, content);
    return path;
  }

  test('is read as it was written, and for its owner only', () => {
    const directory = join(newDirectory(), 'not', 'there');
    const path = demoFilePath(directory);
    const { clientSecret: _, ...open } = application;
    const content = { ...whole, applications: [application, open] };
    writeDemoFile(path, content);
    expect(readDemoFile(path)).toEqual(content);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual(['demo.json']);
  });

  test('replaces a world-readable one', () => {
    const path = holding('{}');
    writeDemoFile(path, whole);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('is whole when another process writes it at the same time', () => {
    const path = demoFilePath(newDirectory());
    const rename = fs.renameSync;
    const renaming = jest.spyOn(fs, 'renameSync').mockImplementationOnce((...names) => {
      writeDemoFile(path, { ...whole, people: [] });
      rename(...names);
    });
    syncBuiltinESMExports();
    try {
      writeDemoFile(path, whole);
      expect(renaming).toHaveBeenCalledTimes(2);
    } finally {
      renaming.mockRestore();
      syncBuiltinESMExports();
    }
    expect(readDemoFile(path)).toEqual(whole);
  });

  test('leaves no copy of its secrets for ever where a writer of it was killed', async () => {
    const path = demoFilePath(newDirectory());
    await once(startScript('test/cli/demo/killed-demo-writer.child.ts', [path]), 'exit');
    expect(readdirSync(dirname(path))).toEqual([expect.stringMatching(/^demo\.json\..+/)]);
    writeDemoFile(path, whole);
    expect(readdirSync(dirname(path))).toEqual(['demo.json']);
  });

  test('that cannot be written is a sentence', () => {
    const path = demoFilePath(newDirectory());
    mkdirSync(path);
    expect(() => writeDemoFile(path, whole)).toThrow(StartupError);
    expect(() => writeDemoFile(path, whole)).toThrow(/demo\.json cannot be written: /);
    expect(readdirSync(dirname(path))).toEqual(['demo.json']);
  });

  test('for which there is no room ends the start so that it is made again', () => {
    const writing = jest.spyOn(fs, 'writeFileSync').mockImplementation(() => {
      throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    });
    syncBuiltinESMExports();
    let refusal: unknown;
    try {
      writeDemoFile(demoFilePath(newDirectory()), whole);
    } catch (error) {
      refusal = error;
    } finally {
      writing.mockRestore();
      syncBuiltinESMExports();
    }
    expect(exitCodeOfStart(refusal)).toBe(1);
  });

  test('in a directory that is a file is a sentence too', () => {
    const directory = holding('{}');
    expect(() => writeDemoFile(demoFilePath(directory), whole)).toThrow(StartupError);
  });

  test.each(['', '{"apiKeys": [{', 'null', '42', '"text"'])('that holds %j is none', (content) => {
    expect(readDemoFile(holding(content))).toBeUndefined();
  });

  test('that does not exist is none', () => {
    expect(readDemoFile(demoFilePath(newDirectory()))).toBeUndefined();
  });

  test.each(faults)('with $what keeps everything else', ({ spoilt, left }) => {
    const path = holding(JSON.stringify({ ...whole, ...spoilt }));
    expect(readDemoFile(path)).toEqual({ ...whole, ...left });
  });

  test('of whatever shape never throws, and gives nothing that was not in it', () => {
    const path = holding('');
    const names = Object.keys(whole);
    const member = fc.tuple(fc.constantFrom(...names), fc.jsonValue());
    fc.assert(
      fc.property(fc.array(member, { maxLength: 5 }), fc.boolean(), (spoilt, onTop) => {
        const content = { ...(onTop && whole), ...Object.fromEntries(spoilt) };
        writeFileSync(path, JSON.stringify(content));
        for (const [name, value] of Object.entries(readDemoFile(path) ?? {})) {
          const given = JSON.parse(JSON.stringify(content))[name];
          expect(Array.isArray(value) ? given : [given]).toEqual(
            expect.arrayContaining(Array.isArray(value) ? value : [value]),
          );
        }
      }),
      { numRuns: 200 },
    );
  });
});
