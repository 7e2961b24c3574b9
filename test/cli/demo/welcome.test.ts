import { writeFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from '@jest/globals';
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

  async function newDemo() {
    const config = settingsIn(newDirectory(), { SIGN_ON_URL: 'https://login.example.com' });
    store = await openStore({ environment: 'demo', dataDir: config.DATA_DIR });
    await prepareDemo(config, store.demo, quickHasher);
    const path = demoFilePath(config.DATA_DIR);
    return { path, demo: readDemoFile(path) ?? {}, said: () => saidOf(config) };
  }

  function saidOf(config: Parameters<typeof welcome>[0]): string {
    const lines: string[] = [];
    welcome(config, (line) => lines.push(line));
    return lines.join('\n');
  }

  test('names a person to sign in as, with the password', async () => {
    const { demo, said } = await newDemo();
    expect(said()).toContain(demo.people?.[0]?.email);
    expect(said()).toContain(demo.people?.[0]?.password);
  });

  test('gives an address that begins a sign-in, ready to be opened', async () => {
    const { demo, said } = await newDemo();
    const address = new URL(/^ {5}(https:\S*\/auth\/authorize\S*)$/m.exec(said())?.[1] ?? '');
    const query = Object.fromEntries(address.searchParams);
    expect(address.origin).toBe('https://login.example.com');
    const application = demo.applications?.find(({ clientId }) => clientId === query.client_id);
    expect(application?.requirePkce).toBe(false);
    expect(application?.redirectUris.map(({ uri }) => uri)).toContain(query.redirect_uri);
    expect(query).toMatchObject({ response_type: 'code', scope: 'openid profile email' });
  });

  test('gives the call that exchanges the code, as the same application', async () => {
    const { demo, said } = await newDemo();
    const [application] = demo.applications ?? [];
    const call = /^ {5}curl -s https:\S*\/auth\/token .*$/m.exec(said())?.[0];
    expect(call).toContain(`-u '${application?.clientId}:${application?.clientSecret}'`);
    expect(call).toContain(`redirect_uri=${application?.redirectUris[0]?.uri} `);
    expect(call).toContain('grant_type=authorization_code');
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

  test('to a live environment tells no credential, not even beside a file of a demo', async () => {
    const { path, demo } = await newDemo();
    const said = saidOf(settingsIn(path.replace(/\/demo\.json$/, ''), { ENVIRONMENT: 'live' }));
    expect(said).toContain('The live environment is serving.');
    for (const secret of [demo.operatorToken, demo.platformToken, demo.apiKeys?.[0]?.key]) {
      expect(said).not.toContain(secret);
    }
  });
});
