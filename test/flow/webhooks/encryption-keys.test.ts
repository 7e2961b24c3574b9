import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as client from 'openid-client';
import type { EncryptionKey } from '../../../generated/proto/integration/operator/v1/encryption_keys.js';
import { newKey, readSecretsKeys, replaceSecretsKeys } from '../../../src/keys/secrets-key.js';
import { lockFile } from '../../../src/store/file-lock.js';
import { integration, sharedIntegration } from '../../cli/typed.js';
import { eventually } from '../../support/eventually.js';
import { roleTokens } from '../../support/role-tokens.js';
import { type ServiceProcess, serviceProcesses } from '../../support/service-process.js';
import { verified, webhookReceivers } from '../../support/webhooks/receiver.js';
import { apps, instanceIds } from '../sign-on/demo-environment.js';
import { type Subscribed, WebhookEnvironment } from './webhook-environment.js';

const services = serviceProcesses();
const newReceiver = webhookReceivers();
const keyFileOf = ({ dataDir }: ServiceProcess) => `${dataDir}.keys/secrets.key`;
const idsIn = (path: string) => readFileSync(path, 'utf8').match(/^ek_\w+/gm) ?? [];

const typeIn =
  (run: typeof integration) =>
  async (service: Pick<ServiceProcess, 'settings'>, ...args: string[]) => {
    const { DATA_DIR = '', GRPC_PORT = '', SECRETS_KEY_FILE } = service.settings;
    const own = { ENVIRONMENT: 'demo', DATA_DIR, GRPC_PORT, ...(SECRETS_KEY_FILE && { SECRETS_KEY_FILE }) };
    const { code, stdout, stderr } = await run(['encryption-key', ...args, '--json'], own);
    return { code, stderr, keys: stdout === '' ? [] : (JSON.parse(stdout) as EncryptionKey[]) };
  };
const type = typeIn(sharedIntegration);
/** In a process of its own, at the same time as others. */
const typeBeside = typeIn(integration);

/** In each generation: one person may not sign in without end. */
const SIGN_INS = 16;

async function done(service: ServiceProcess, ...args: string[]): Promise<EncryptionKey[]> {
  const { code, keys, stderr } = await type(service, ...args);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return keys;
}

const statuses = (keys: readonly EncryptionKey[]) =>
  keys.map(({ status }) => String(status).replace('ENCRYPTION_KEY_STATUS_', ''));

/** Rotates, waits until nothing is sealed with the key before, and retires that. */
async function rotateAndRetire(service: ServiceProcess): Promise<void> {
  const [before] = idsIn(keyFileOf(service)) as [string];
  expect(statuses(await done(service, 'rotate')).slice(0, 2)).toEqual(['ACTIVE', 'SUPERSEDED']);
  await retired(service, before);
}

/** Retires a key when nothing is sealed with it any more. */
async function retired(service: ServiceProcess, keyId: string): Promise<void> {
  await eventually('every secret sealed anew', async () => {
    const old = (await done(service, 'list')).find((key) => key.keyId === keyId);
    return !old?.seals;
  });
  const [, ...rest] = await done(service, 'retire', keyId);
  expect(rest.find((key) => key.keyId === keyId)?.missingOn).toEqual([]);
  expect(idsIn(keyFileOf(service))).not.toContain(keyId);
}

/** What `list` says of a retired key once the node has read a file with or without it. */
async function listedOnceHeld(service: ServiceProcess, keyId: string, isHeld: boolean) {
  let listed = await type(service, 'list');
  await eventually('the node has announced the keys of its file', async () => {
    listed = await type(service, 'list');
    const { stillOn = [] } = listed.keys.find((key) => key.keyId === keyId) ?? {};
    return stillOn.length === Number(isHeld);
  });
  return listed;
}

async function delivered(demo: WebhookEnvironment, { receiver, secret }: Subscribed): Promise<void> {
  const clientId = await demo.newClient(instanceIds.harborlight);
  const request = await receiver.next(({ event }) => event.entity.id === clientId);
  expect(verified(request, secret)).toEqual(request.event);
}

/** Again and again until it is told to stop, or so often; a failure ends it. */
function meanwhile(work: () => Promise<unknown>, most = Number.POSITIVE_INFINITY) {
  let isOver = false;
  let times = 0;
  const running = (async () => {
    while (!isOver && times < most) {
      await work();
      times += 1;
    }
  })();
  running.catch(() => undefined);
  return async () => {
    isOver = true;
    await running;
    return times;
  };
}

describe('a rotation of the encryption key', () => {
  let demo: WebhookEnvironment;
  let to: Subscribed;

  const serve = async (service: ServiceProcess) => {
    demo?.close();
    demo = new WebhookEnvironment(service, newReceiver);
  };
  const deliver = () => delivered(demo, to);

  beforeAll(async () => {
    await serve(await services.start());
    to = await demo.subscribe();
  });
  afterAll(() => demo?.close());

  test('three times over stops no sign-in, no refresh and no signed delivery', async () => {
    const [, ...earlier] = statuses(await done(demo.service, 'list'));
    // Their `seq` counts in a chain: the one of this process may be behind that of the demo's first start.
    const [last] = demo.rows('select max(rowid) as place from audit_events') as [{ place: number }];
    const party = await demo.party(apps.dashboard);
    const signIn = () => party.signIn(demo.browser(), demo.demoPerson('user'));
    let refreshToken = (await signIn()).refresh_token as string;
    const refresh = async () => {
      refreshToken = (await client.refreshTokenGrant(party.config, refreshToken)).refresh_token as string;
    };
    for (let generation = 0; generation < 3; generation += 1) {
      const ends = [meanwhile(signIn, SIGN_INS), meanwhile(refresh), meanwhile(deliver)];
      await rotateAndRetire(demo.service);
      for (const times of await Promise.all(ends.map((end) => end()))) {
        expect(times).toBeGreaterThan(0);
      }
    }
    expect(statuses(await done(demo.service, 'list'))).toEqual([
      ...['ACTIVE', 'RETIRED', 'RETIRED', 'RETIRED'],
      ...earlier,
    ]);
    expect(
      demo.rows(
        "select type, count(*) as count from audit_events where type like 'encryption_key.%' and rowid > ? group by type order by type",
        last.place,
      ),
    ).toEqual([
      { type: 'encryption_key.activated', count: 3 },
      { type: 'encryption_key.retired', count: 3 },
    ]);
  });

  test('by several commands at once makes one key, and waits for a command that changes the file', async () => {
    const path = keyFileOf(demo.service);
    const [before] = idsIn(path) as [string];
    // A copy that no node reads: no rotation is over before the last one has begun.
    const copy = join(services.newDirectory(), 'secrets.key');
    copyFileSync(path, copy);
    const elsewhere = { settings: { ...demo.service.settings, SECRETS_KEY_FILE: copy } };
    const lock = lockFile(`${copy}.lock`, 'held by an earlier test');
    const refused = await type(elsewhere, 'rotate');
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining(`Another command is changing the key file ${copy}. Run this one again.`),
    ]);
    expect(idsIn(copy)).toEqual([before]);
    lock.release();
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => typeBeside(elsewhere, 'rotate', '--wait', '1s')),
    );
    const [, made] = idsIn(copy) as [string, string];
    expect(idsIn(copy)).toEqual([before, made]);
    const codes = answers.map(({ code }) => code);
    expect(codes).toContain(1);
    for (const { code, stderr } of answers) {
      // On a busy machine, one may hold the file for longer than another waits for it.
      const sentence = code === 2 ? 'Run this one again.' : `Nothing is sealed with ${made} yet`;
      expect([code, stderr]).toEqual([code === 2 ? 2 : 1, expect.stringContaining(sentence)]);
    }
    copyFileSync(copy, path);
    const [active] = await done(demo.service, 'rotate');
    expect(active).toMatchObject({ keyId: made, status: 'ENCRYPTION_KEY_STATUS_ACTIVE' });
    await retired(demo.service, before);
  });

  test('that was cut short between file and database continues with the same key, and so does the end of the old one', async () => {
    const path = keyFileOf(demo.service);
    const [before] = idsIn(path) as [string];
    const added = newKey();
    const keysBefore = [...readSecretsKeys(path), added];
    replaceSecretsKeys(path, keysBefore);
    const keys = await done(demo.service, 'rotate');
    expect(keys[0]).toMatchObject({ keyId: added.id, status: 'ENCRYPTION_KEY_STATUS_ACTIVE' });
    expect(idsIn(path)).toEqual([before, added.id]);
    await eventually(
      'the end of the old key',
      async () => (await type(demo.service, 'retire', before)).code === 0,
    );
    // As if the command had ended before it removed the key.
    replaceSecretsKeys(path, keysBefore);
    const left = await listedOnceHeld(demo.service, before, true);
    expect(left.stderr).toMatch(
      new RegExp(
        `^The retired key ${before} was still in the key file of \\S+ when that node last told\\. .*retire ${before}`,
      ),
    );
    await done(demo.service, 'retire', before);
    expect(idsIn(path)).toEqual([added.id]);
    const gone = await listedOnceHeld(demo.service, before, false);
    expect(gone.stderr).toBe('');
    expect(gone.keys.flatMap(({ missingOn }) => missingOn)).toEqual([]);
    await deliver();
  });

  test('that a kill cut short is taken up where it stood', async () => {
    // Of its own: a node that was killed counts as there for 90 seconds.
    const killed = await services.start({ command: 'domain', env: roleTokens });
    const environment = new WebhookEnvironment(killed, newReceiver);
    const subscribed = await environment.subscribe();
    environment.close();
    await done(killed, 'rotate');
    killed.killGroup();
    await killed.exited;
    const env = {
      ...killed.settings,
      EDGE_TOKEN: undefined,
      RELAY_TOKEN: undefined,
      MAINTENANCE_TOKEN: undefined,
    };
    const service = await services.start({ dataDir: killed.dataDir, env });
    const [before] = idsIn(keyFileOf(service)) as [string];
    await eventually('every secret sealed anew', async () => {
      const keys = await done(service, 'list');
      return keys.find(({ keyId }) => keyId === before)?.seals === 0;
    });
    const after = new WebhookEnvironment(service, newReceiver);
    await delivered(after, subscribed);
    after.close();
    await done(service, 'retire', before);
  });

  test('is refused with a key file of something else, and with the key in use', async () => {
    const { dataDir } = demo.service;
    const other = join(services.newDirectory(), 'other.key');
    writeFileSync(other, Buffer.alloc(32, 7), { mode: 0o600 });
    const settings = { ENVIRONMENT: 'demo', DATA_DIR: dataDir, SECRETS_KEY_FILE: other };
    const refused = await integration(['encryption-key', 'rotate'], settings);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(/does not hold ek_\w+, the key in use\./),
    ]);
    const [active] = idsIn(keyFileOf(demo.service)) as [string];
    const retired = await type(demo.service, 'retire', active);
    expect([retired.code, retired.stderr]).toEqual([
      1,
      expect.stringMatching(/The key is in use\. Rotate to another one first\./),
    ]);
    expect(idsIn(keyFileOf(demo.service))).toEqual([active]);
  });

  test('retires no key if the key file is another one or missing, and says whether the file had the key', async () => {
    const [before] = idsIn(keyFileOf(demo.service)) as [string];
    await done(demo.service, 'rotate');
    await eventually('every secret sealed anew', async () => {
      const old = (await done(demo.service, 'list')).find(({ keyId }) => keyId === before);
      return !old?.seals;
    });
    const folder = services.newDirectory();
    writeFileSync(join(folder, 'other.key'), Buffer.alloc(32, 7), { mode: 0o600 });
    for (const [file, words] of [
      ['other.key', /does not hold ek_\w+, the key in use\./],
      ['missing.key', /^There is no key file at /],
    ] as const) {
      const elsewhere = { settings: { ...demo.service.settings, SECRETS_KEY_FILE: join(folder, file) } };
      const refused = await type(elsewhere, 'retire', before);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(words)]);
    }
    expect(statuses(await done(demo.service, 'list')).slice(0, 2)).toEqual(['ACTIVE', 'SUPERSEDED']);
    const retire = async () => {
      const settings = { ENVIRONMENT: 'demo', DATA_DIR: demo.service.dataDir };
      return (await sharedIntegration(['encryption-key', 'retire', before], settings)).stdout;
    };
    expect(await retire()).toContain(`The key ${before} is no longer in ${keyFileOf(demo.service)};`);
    expect(await retire()).toContain(`The key ${before} was not in ${keyFileOf(demo.service)}:`);
  });

  test('leaves a service that does not start with another key file, and says which one it needs', async () => {
    const { dataDir, settings } = demo.service;
    await demo.service.stop();
    const path = keyFileOf(demo.service);
    const content = readFileSync(path);
    writeFileSync(path, Buffer.alloc(32, 7));
    const env = { ...settings, ...roleTokens };
    const service = await services.launch({ command: 'domain', dataDir, env });
    expect((await service.exited).code).toBe(78);
    expect(service.errors.text()).toMatch(
      /^The database needs the encryption key ek_\w+, and the key file holds ek_f9aabf2fb7db3093\. Set SECRETS_KEY_FILE/m,
    );
    writeFileSync(path, content);
    await serve(await services.start({ dataDir, env: settings }));
    await deliver();
  });
});

describe('an environment with its key file in the place of the first releases', () => {
  test('continues, says how to move the file, and takes the new place without a restart', async () => {
    const dataDir = join(services.newDirectory(), 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    const before = join(dataDir, 'secrets.key');
    writeFileSync(before, Buffer.alloc(32, 7), { mode: 0o600 });
    const service = await services.start({ command: 'domain', dataDir, env: roleTokens });
    expect(existsSync(keyFileOf(service))).toBe(false);
    const { msg = '' } = await service.output.nextLine(({ msg }) =>
      Boolean(msg?.startsWith('The key file is in the data directory')),
    );
    const [, make = '', move = ''] = /Move it: (mkdir .*) && (mv .*) \(the/.exec(msg) ?? [];
    expect([make, move]).toEqual([
      `mkdir -m 700 '${dataDir}.keys'`,
      `mv '${before}' '${keyFileOf(service)}'`,
    ]);
    mkdirSync(`${dataDir}.keys`, { mode: 0o700 });
    writeFileSync(keyFileOf(service), readFileSync(before), { mode: 0o600 });
    rmSync(before);
    await done(service, 'rotate');
    expect(idsIn(keyFileOf(service))).toHaveLength(2);
  });
});
