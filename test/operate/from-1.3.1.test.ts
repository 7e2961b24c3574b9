import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect } from '@jest/globals';
import type { Kysely } from 'kysely';
import { newApiKey } from '../../src/identifiers/api-key.js';
import { signingKeyMaker } from '../../src/keys/key-ring.js';
import { SealedBox } from '../../src/keys/sealed-box.js';
import { type Purpose, subkeyOf } from '../../src/keys/subkeys.js';
import { openSqlite } from '../../src/store/dialects/sqlite.js';
import { migratorOf } from '../../src/store/migrate.js';
import { migrations } from '../../src/store/migrations/index.js';
import { rowsOf131 } from '../store/migrations/released/release-1.3.1.js';
import { hashText } from '../store/rows.js';
import { PACKAGE_NAME, packageOfRun } from '../support/packed.js';
import { inFrom131 } from './blocks.js';
import { machines, testOnLinux } from './machine.js';

const newMachine = machines();
let tarball: string;

beforeAll(async () => {
  tarball = await packageOfRun();
}, 300_000);

const KEY = Buffer.alloc(32, 7);
const API_KEY = newApiKey('live');
const boxOf = (purpose: Purpose) => new SealedBox(subkeyOf(KEY, purpose));

/** A `DATA_DIR` as release 1.3.1 leaves it. Returns the id of its signing key. */
async function installationOf131(dataDir: string): Promise<string> {
  const { kid, publicJwk, sealedPrivateKey } = await signingKeyMaker(boxOf('signing-keys')).make('ES256');
  const live: Record<string, object> = {
    environment: { name: 'live' },
    api_keys: { hash: hashText(API_KEY) },
    signing_keys: { kid, public_jwk: JSON.stringify(publicJwk), sealed_private_key: sealedPrivateKey },
    // Webhooks that leave no machine: live refuses addresses of its own.
    subscriptions: { url: 'https://localhost/' },
  };
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(join(dataDir, 'secrets.key'), KEY, { mode: 0o600 });
  const { patient, close } = openSqlite(join(dataDir, 'integration.db'));
  await migratorOf(patient, migrations).migrateTo('0005-webhooks');
  // biome-ignore lint/suspicious/noExplicitAny: a schema of an earlier time.
  const earlier = patient as unknown as Kysely<any>;
  for (const [table, ...rows] of rowsOf131((purpose, ...sealed) => boxOf(purpose).seal(...sealed))) {
    const values = rows.map((row) => ({ ...row, ...live[table] }));
    await earlier.insertInto(table).values(values).execute();
  }
  await close();
  return kid;
}

testOnLinux(
  'an operator brings an installation of 1.3.1 to this release with the blocks of the page, and its files stay as they are',
  async () => {
    const machine = await newMachine();
    copyFileSync(tarball, machine.path(`root/${PACKAGE_NAME}.tar.gz`));
    const old = machine.path('var/lib/integration');
    const kid = await installationOf131(old);
    const contents = () => readdirSync(old).map((name) => [name, readFileSync(join(old, name))]);
    const before = contents();

    await machine.prepare({ SERVICE_TOKEN: 'x'.repeat(40) });
    const check = 'integration config check --offline 2>&1';
    expect(await machine.run(check, { codes: [78] })).toContain('SERVICE_TOKEN is replaced by');
    machine.configure({ SERVICE_TOKEN: '' });
    await machine.run(check);
    await machine.type(inFrom131.copyFiles);
    await machine.type(inFrom131.start);

    expect(await machine.statusWith(API_KEY)).toBe(200);
    const keySet = await fetch(`${machine.signOnUrl}/.well-known/jwks.json`);
    expect(await keySet.json()).toMatchObject({
      keys: expect.arrayContaining([expect.objectContaining({ kid })]),
    });
    expect(contents()).toEqual(before);
  },
  600_000,
);
