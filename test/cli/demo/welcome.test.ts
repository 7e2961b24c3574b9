import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { demoFilePath, readDemoFile } from '../../../src/cli/demo/demo-file.js';
import { prepareDemo } from '../../../src/cli/demo/prepare-demo.js';
import { welcome } from '../../../src/cli/demo/welcome.js';
import { openStore, type Store } from '../../../src/store/store.js';
import { quickHasher } from '../../support/platform-dependencies.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';
import { settingsIn } from './demo-settings.js';

describe('the welcome', () => {
  const newDirectory = temporaryDirectories();
  let store: Store | undefined;
  afterEach(async () => {
    await store?.close();
    store = undefined;
  });

  async function newDemo(folder = newDirectory()) {
    const others = {
      SIGN_ON_URL: 'https://login.example.com',
      DEMO_APP_PORT: '4104',
      TEMPORAL_UI_URL: 'http://localhost:8333',
    };
    const config = settingsIn(folder, others);
    store = await openStore({ environment: 'demo', dataDir: config.DATA_DIR });
    await prepareDemo(config, store.demo, quickHasher);
    const path = demoFilePath(config.DATA_DIR);
    return { path, demo: readDemoFile(path) ?? {}, said: (awaits?: boolean) => saidOf(config, awaits) };
  }

  function saidOf(config: Parameters<typeof welcome>[0], awaitsTemporal?: boolean): string {
    const lines: string[] = [];
    welcome(config, (line) => lines.push(line), awaitsTemporal);
    return lines.join('\n');
  }

  test('names a person to sign in as, with the password', async () => {
    const { demo, said } = await newDemo();
    expect(said()).toContain(`Sign in as ${demo.people?.[0]?.email}`);
    expect(said()).toContain(demo.people?.[0]?.password);
  });

  test('gives the address of the application that begins a sign-in, to which that application returns', async () => {
    const { demo, said } = await newDemo();
    expect(said()).toMatch(/^ {5}http:\/\/localhost:4104$/m);
    const application = demo.applications?.at(-1);
    expect(application?.redirectUris.map(({ uri }) => uri)).toContain('http://localhost:4104/callback');
  });

  test('gives the address of the workflows of this environment, not of all namespaces', async () => {
    const { said } = await newDemo();
    expect(said()).toContain('http://localhost:8333/namespaces/demo/workflows');
  });

  test('gives an address of health that a browser takes, also for IPv6', () => {
    const said = saidOf(settingsIn(newDirectory(), { METRICS_HOST: '::1', METRICS_PORT: '4103' }));
    expect(said).toContain('http://[::1]:4103 (/livez');
  });

  test('says that the UI of Temporal is not up yet only while it is not', async () => {
    const { said } = await newDemo();
    const note = '(as soon as Temporal has joined)';
    expect(said(true)).toContain(`/namespaces/demo/workflows ${note}`);
    expect(said(false)).not.toContain(note);
  });

  test('tells where a demo is that commands do not find by themselves', async () => {
    const root = newDirectory();
    const folder = join(root, '.data/demo');
    mkdirSync(folder, { recursive: true });
    const { said } = await newDemo(folder);
    expect(said()).toContain(`export DATA_DIR='${folder}'`);
    const here = jest.spyOn(process, 'cwd').mockReturnValue(root);
    expect(said()).toContain('./integration listen');
    expect(said()).not.toContain('DATA_DIR');
    here.mockRestore();
  });

  test('quotes a folder for the shell', async () => {
    const folder = join(newDirectory(), "Mara's demo");
    mkdirSync(folder);
    const { said } = await newDemo(folder);
    const line = /^ +export .+$/m.exec(said())?.[0];
    expect(execFileSync('sh', ['-c', `${line}; printf %s "$DATA_DIR"`], { encoding: 'utf8' })).toBe(folder);
  });

  test.each(['{}', '{"apiKeys": [null], "people": 7}', '['])(
    'for a demo with a file that holds %s still prints all addresses',
    async (content) => {
      const { path, said } = await newDemo();
      writeFileSync(path, content);
      expect(said()).toContain('https://login.example.com');
      expect(said()).not.toMatch(/undefined|null|Things to try/i);
    },
  );

  test('to a live environment tells no credential and no demo application, not even beside a file of a demo', async () => {
    const { path, demo } = await newDemo();
    const said = saidOf(settingsIn(path.replace(/\/demo\.json$/, ''), { ENVIRONMENT: 'live' }));
    expect(said).toContain('The live environment is serving.');
    expect(said).not.toContain('Demo application');
    for (const secret of [demo.operatorToken, demo.platformToken, demo.apiKeys?.[0]?.key]) {
      expect(said).not.toContain(secret);
    }
  });
});
