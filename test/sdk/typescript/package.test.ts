import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { packageRoot, packageVersion } from '../../../src/config/package.js';
import { type RealGateway, startRealGateway } from '../../support/gateway/real-gateway.js';
import { Project } from './installed-package.js';

/** What the code in the README leaves to its readers. */
const BROUGHT_ALONG = `
declare const issuer: string, clientId: string, clientSecret: string | undefined, redirectUri: string;
declare const callbackUrl: string, baseUrl: string, apiKey: string, id: string, heldEtag: string | null;
declare const body: Uint8Array, request: Request, secret: string, signal: AbortSignal, gateway: Gateway;
declare function store(workers: unknown[], etag: string | null): Promise<void>;
declare function update(workerId: string, worker: unknown): Promise<void>;
`;

let project: Project;

beforeAll(async () => {
  project = await Project.install();
});

afterAll(() => rmSync(project.folder, { recursive: true, force: true }));

describe('the package, installed into an empty project', () => {
  test('says the release of the contract wherever it says one', async () => {
    const { version } = JSON.parse(project.installed('package.json'));
    const printed = await project.run(
      project.javascript(
        'release',
        `import { version } from '@integration-service/sdk'; process.stdout.write(version);`,
      ),
    );
    expect([version, printed]).toEqual([packageVersion, packageVersion]);
    expect(project.installed('README.md')).toContain(`integration-service-sdk-${packageVersion}.tgz`);
  });

  test.each([
    ['node16, with the types of Node.js and no DOM', { module: 'node16', lib: ['es2022'], types: ['node'] }],
    [
      'bundler, with a DOM and no Node.js',
      {
        module: 'esnext',
        moduleResolution: 'bundler',
        lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'],
        types: [],
      },
    ],
  ])('compiles under the strictest settings: %s', async (_, settings) => {
    expect(await project.complaints('program', settings)).toBe('');
  });

  test('has a README with code that compiles in its context, and is what the command line of the service takes it for', async () => {
    const view = readFileSync(join(packageRoot, 'src/cli/commands/sync/sdk.ts'), 'utf8');
    const types = view.slice(view.indexOf('/**'), view.indexOf('export async function'));
    const program = `import * as sdk from '@integration-service/sdk';
      import BetterSqlite3 from 'better-sqlite3';
      ${types}
      export const fits: Sdk = sdk;
      export const store = new sdk.SqliteStore(new BetterSqlite3('copy.sqlite'));`;
    const programs = { readme: readmeProgram(project.installed('README.md')), view: program };
    const settings = { module: 'node16', lib: ['es2022', 'dom'], types: ['node'], esModuleInterop: true };
    expect(await project.complaintsAbout(programs, settings)).toBe('');
  });

  test('has routes that fit the servers of Node.js with its newest types, and none of its own parts in its types', async () => {
    const program = `import type { IncomingMessage, ServerResponse } from 'node:http';
      import { receiveWebhooks } from '@integration-service/sdk/express';
      // @ts-expect-error: it is for the routes of the package alone.
      import { keysOf } from '@integration-service/sdk/webhooks';
      type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;
      export const handle: Handler = receiveWebhooks('whsec_', () => keysOf);`;
    const typeRoots = [join(project.folder, 'types')];
    const newest = join(packageRoot, 'node_modules/types-node-newest');
    cpSync(newest, join(project.folder, 'types/node'), { recursive: true });
    const settings = { module: 'node16', lib: ['es2022'], types: ['node'], typeRoots };
    expect(await project.complaintsAbout({ route: program }, settings)).toBe('');
  });

  test('awaits the functions of a sync, whose errors end it', async () => {
    const path = project.javascript(
      'functions',
      `import { Gateway, MemoryStore } from '@integration-service/sdk';
       const change = { cursor: 'c', entity: { type: 'shift', id: 's' }, clientId: 'cli', removed: false,
         changedAt: '2026-06-11T16:02:19.350Z', version: 1, resource: {} };
       const fetch = async () => Response.json([change]);
       const gateway = new Gateway({ baseUrl: 'https://gateway.example.com', apiKey: 'ik_demo_1', fetch });
       // What the store says while another program has its file.
       const onChanges = async () => {
         throw new Error('database is locked');
       };
       const onError = () => {
         throw new Error('It goes on.');
       };
       const sync = gateway.sync('iin_1', new MemoryStore(), { onChanges, onError });
       process.stdout.write(await sync.run().catch((error) => error.message));`,
    );
    expect(await project.run(path)).toBe('database is locked');
  });

  test('refuses options that are not numbers, and limits within which no answer could arrive', async () => {
    const path = project.javascript(
      'numbers',
      `import { Gateway, MemoryStore, SignOn } from '@integration-service/sdk';
       const given = { baseUrl: 'https://gateway.example.com', apiKey: 'ik_demo_1', fetch: () => Response.json([]) };
       const issuer = 'https://sign-on.example.com';
       const redirectUri = 'https://app.example.com/callback';
       const gateway = new Gateway(given);
       const refused = [];
       for (const call of [
         () => new Gateway({ ...given, timeoutMs: NaN }),
         () => new SignOn({ issuer, clientId: 'app_1', redirectUri, timeoutMs: 0 }),
         () => gateway.listClients('iin_1', { timeoutMs: -1 }),
         () => gateway.listChanges('iin_1', { timeoutMs: 0, waitSeconds: 25 }),
         () => gateway.listChanges('iin_1', { timeoutMs: '5000', waitSeconds: 25 }),
         () => new Gateway({ ...given, retry: { maxRetryAfterSeconds: NaN } }),
         () => gateway.listChanges('iin_1', { waitSeconds: NaN }),
         () => gateway.sync('iin_1', new MemoryStore(), { pauseSeconds: NaN }),
         () => gateway.sync('iin_1', new MemoryStore(), { pauseSeconds: null }),
         () => gateway.sync('iin_1', new MemoryStore(), { compareEverySeconds: NaN }),
         () => gateway.sync('iin_1', new MemoryStore(), { waitSeconds: -1 }),
         () => gateway.sync('iin_1', new MemoryStore(), { pauseSeconds: Infinity }),
       ]) {
         const { name, message } = await (async () => call())().then(() => ({}), (error) => error);
         refused.push(name + ' ' + message?.split(' ')[0]);
       }
       process.stdout.write(refused.join('\\n'));`,
    );
    expect((await project.run(path)).split('\n')).toEqual([
      ...Array(5).fill('TypeError timeoutMs'),
      'TypeError maxRetryAfterSeconds',
      'TypeError waitSeconds',
      ...Array(2).fill('TypeError pauseSeconds'),
      'TypeError compareEverySeconds',
      'TypeError waitSeconds',
      'undefined undefined',
    ]);
  });

  test.each(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])(
    'reports a wait that Node.js ends (%s) as one that ended by its own limit, and does not retry',
    async (code) => {
      const path = project.javascript(
        'limits',
        `import { Gateway } from '@integration-service/sdk';
         let asked = 0;
         const fetch = async () => {
           asked += 1;
           throw new TypeError('fetch failed', { cause: { code: '${code}' } });
         };
         const gateway = new Gateway({ baseUrl: 'https://gateway.example.com', apiKey: 'ik_demo_1', fetch });
         const { name, message } = await gateway.listClients('iin_1').catch((error) => error);
         process.stdout.write([asked, name, message].join(' '));`,
      );
      const said = `There was no whole answer from gateway.example.com within the limit of fetch: ${code}.`;
      expect(await project.run(path)).toBe(`1 TimeoutError ${said}`);
    },
  );

  test('says what it needs, makes a state in place of an empty one, and sends no empty secret', async () => {
    const path = project.javascript(
      'options',
      `import { Gateway, SignOn } from '@integration-service/sdk';
       const issuer = 'https://sign-on.example.com';
       const redirectUri = 'https://app.example.com/callback';
       const say = (...words) => process.stdout.write(words.join(' ') + '\\n');
       for (const options of [{ issuer, redirectUri }, { issuer, clientId: 'app_1', redirectUri: '' }]) {
         try {
           new SignOn(options);
         } catch (error) {
           say(error.name, error.message);
         }
       }
       const fetch = async (_, { body }) => {
         say(body);
         return Response.json({});
       };
       const signOn = new SignOn({ issuer, clientId: 'app_1', clientSecret: '', redirectUri, fetch });
       const { state, nonce } = await signOn.authorizationUrl({ state: '', nonce: '' });
       say(state.length, nonce.length);
       await signOn.revoke('refresh-1');
       const failing = async () => {
         throw new TypeError('fetch failed', { cause: new DOMException('Proxy response', 'AbortError') });
       };
       const baseUrl = 'https://gateway.example.com';
       const gateway = new Gateway({ baseUrl, apiKey: 'ik_demo_1', fetch: failing, retry: false });
       say(await gateway.listClients('iin_1').catch((error) => error.message));
       const reading = new Gateway({ baseUrl, apiKey: 'ik_demo_1', fetch: async () => Response.json([1]) });
       const later = { type: 'shift.created', entity: { type: 'shift' }, data: { links: { self: '/v1/shifts' } } };
       say(JSON.stringify(await reading.follow(later)));`,
    );
    expect((await project.run(path)).trim().split('\n')).toEqual([
      'TypeError clientId and redirectUri are needed.',
      'TypeError clientId and redirectUri are needed.',
      '43 43',
      '{"token":"refresh-1","client_id":"app_1"}',
      'The connection to gateway.example.com failed: Proxy response.',
      '[1]',
    ]);
  });

  test('hashes a webhook once for each secret, however many signatures a stranger gives it', async () => {
    const path = project.javascript(
      'signatures',
      `import { verifyWebhook } from '@integration-service/sdk';
       let hashed = 0;
       for (const name of ['sign', 'verify']) {
         const method = crypto.subtle[name].bind(crypto.subtle);
         crypto.subtle[name] = (...values) => {
           hashed += 1;
           return method(...values);
         };
       }
       const headers = {
         'webhook-id': 'evt_1',
         'webhook-timestamp': '1782896401',
         'webhook-signature': Array(100).fill('v1,' + btoa('x'.repeat(32))).join(' '),
       };
       const secrets = ['new', 'old'].map((text) => 'whsec_' + btoa(text));
       const verified = verifyWebhook('{}', headers, secrets, { now: new Date(1782896401000) });
       const reason = await verified.catch((error) => error.reason);
       process.stdout.write(reason + ' ' + hashed);`,
    );
    expect(await project.run(path)).toBe('signature_mismatch 2');
  });

  test('makes a copy that only its owner can read', async () => {
    const path = project.javascript(
      'copy',
      `import { statSync } from 'node:fs';
       import { SqliteStore } from '@integration-service/sdk';
       const { getBuiltinModule } = process;
       const standIn = { DatabaseSync: class { exec() {} } };
       process.getBuiltinModule = (name) => (name === 'node:sqlite' ? standIn : getBuiltinModule(name));
       process.umask(0);
       SqliteStore.open('copy.sqlite');
       process.stdout.write((statSync('copy.sqlite').mode & 0o777).toString(8));
       // One that is there is not opened: to close it would end the locks of this process on it.
       const files = getBuiltinModule('node:fs');
       const { openSync } = files;
       files.openSync = (...asked) => {
         const file = openSync(...asked);
         process.stdout.write(' opened');
         return file;
       };
       SqliteStore.open('copy.sqlite');`,
    );
    expect(await project.run(path)).toBe('600');
  });

  test('closes the file of a copy', async () => {
    const path = project.javascript(
      'close',
      `import { SqliteStore } from '@integration-service/sdk';
       const standIn = {
         DatabaseSync: class {
           exec() {}
           close() {
             process.stdout.write('closed');
           }
         },
       };
       process.getBuiltinModule = () => standIn;
       SqliteStore.open(':memory:').close();
       // A database of the program may have no such method.
       new SqliteStore({ exec() {} }).close();`,
    );
    expect(await project.run(path)).toBe('closed');
  });

  test('verifies webhooks without loading what only sign-on needs', async () => {
    const path = project.javascript(
      'alone',
      `import { verifyWebhook } from '@integration-service/sdk/webhooks';
       process.stdout.write(typeof verifyWebhook);`,
    );
    rmSync(`${project.folder}/node_modules/jose`, { recursive: true });
    expect(await project.run(path)).toBe('function');
    await expect(project.run(project.program('driver'))).rejects.toThrow('jose');
  });
});

describe('the first call of the README', () => {
  let gateway: RealGateway;
  let own: Project;

  beforeAll(async () => {
    [gateway, own] = await Promise.all([startRealGateway(), Project.install()]);
  });

  afterAll(async () => {
    await gateway.stop();
    rmSync(own.folder, { recursive: true, force: true });
  });

  test('has no more than ten lines, and lists the workers', async () => {
    const [, code = ''] = /```ts\n(.*?)```/s.exec(own.installed('README.md')) ?? [];
    expect(code.trim().split('\n').length).toBeLessThanOrEqual(10);
    expect(code).toContain('http://localhost:4001');
    const path = own.javascript('first-call', code.replace('http://localhost:4001', gateway.url));
    const [key = ''] = Object.values(gateway.credentials.apiKeys);
    const printed = await own.run(path, { API_KEY: key });
    expect(printed.trim().split('\n').length).toBeGreaterThan(3);
    expect(printed).toMatch(/^Tallowfern Bakeries \S+ \S+/m);
  });
});

/** The blocks of code in sequence, each with separate names. */
function readmeProgram(readme: string): string {
  const blocks = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code);
  const imports = new Set(blocks.flatMap((code) => code.match(/^import .*$/gm) ?? []));
  const bodies = blocks.map((code) => `{\n${code.replace(/^import .*$/gm, '')}}\n`);
  return [...imports, BROUGHT_ALONG, ...bodies, 'export {};'].join('\n');
}
