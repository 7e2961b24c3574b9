import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { temporaryDirectories } from '../../support/temporary-directory.js';
import { sharedIntegration } from '../typed.js';

const newDirectory = temporaryDirectories();

test.each(['::1', '[::1]'])(
  'the gRPC port of the settings is called also where its host is the IPv6 address %s',
  async (GRPC_HOST) => {
    const token = { ENVIRONMENT: 'live', INTEGRATION_TOKEN: `operator_live_${'0'.repeat(48)}` };
    const settings = { ...token, GRPC_HOST, GRPC_PORT: '1' };
    const { code, stderr } = await sharedIntegration(['integration', 'list'], settings);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^Nothing listens at \[::1\]:1\. |^\[::1\]:1 gave no usable answer: /),
    ]);
  },
);

test('a command that calls the service knows of secrets in files, and does not need to read them', async () => {
  const settings = {
    ...{ ENVIRONMENT: 'live', INTEGRATION_TOKEN: `operator_live_${'0'.repeat(48)}`, GRPC_PORT: '1' },
    ...{ TEMPORAL_ADDRESS: 'temporal.example.com:7233', TEMPORAL_API_KEY_FILE: '/none' },
  };
  const { code, stderr } = await sharedIntegration(['key', 'list'], settings);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^Nothing listens at 127\.0\.0\.1:1\. /)]);
});

test('an empty variable counts as unset', async () => {
  const empty = {
    ...{ ENVIRONMENT: '', INTEGRATION_ADDRESS: '', INTEGRATION_CA: '', INTEGRATION_GATEWAY: '' },
    ...{ INTEGRATION_TOKEN: '', INTEGRATION_TOKEN_FILE: '', INTEGRATION_API_KEY: '' },
  };
  for (const args of [
    ['key', 'list'],
    ['worker', 'list', '--client', 'cli_x'],
    ['sync', '--to', 'copy.sqlite'],
  ]) {
    const { code, stderr } = await sharedIntegration(args, empty);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^There is no demo environment in /)]);
  }
  const { stderr } = await sharedIntegration(['key', 'list'], { ...empty, INTEGRATION_TOKEN_FILE: '/none' });
  expect(stderr).toBe('INTEGRATION_TOKEN_FILE names a file that does not exist.\n');
});

test.each([
  ['live', 'the settings', '1'],
  ['demo', 'the demo environment of the folder', '9'],
])('a token of %s is sent to the address of %s', async (environment, _, port) => {
  const DATA_DIR = newDirectory();
  writeFileSync(join(DATA_DIR, 'demo.json'), JSON.stringify({ grpcAddress: '127.0.0.1:9' }));
  const INTEGRATION_TOKEN = `operator_${environment}_${'0'.repeat(48)}`;
  const settings = { DATA_DIR, INTEGRATION_TOKEN, GRPC_PORT: '1' };
  const { code, stderr } = await sharedIntegration(['integration', 'list'], settings);
  expect([code, stderr]).toEqual([1, expect.stringContaining(`Nothing listens at 127.0.0.1:${port}. `)]);
});

test('a secret that differs from its file is refused, and a typed token needs neither', async () => {
  const [one, other] = ['0', '1'].map((digit) => `operator_live_${digit.repeat(48)}`) as [string, string];
  const INTEGRATION_TOKEN_FILE = join(newDirectory(), 'token');
  writeFileSync(INTEGRATION_TOKEN_FILE, `${one}\n`, { mode: 0o600 });
  const live = { ENVIRONMENT: 'live', GRPC_PORT: '1', INTEGRATION_TOKEN_FILE };
  const list = (args: readonly string[], settings: Record<string, string>) =>
    sharedIntegration(['integration', 'list', ...args], { ...live, ...settings });
  const refused = (name: string) => ({
    ...{ code: 2, stdout: '' },
    stderr: `${name} and ${name}_FILE differ: only one of them may be set.\n`,
  });
  const called = { code: 1, stderr: expect.stringMatching(/^Nothing listens at 127\.0\.0\.1:1\. /) };
  expect(await list([], { INTEGRATION_TOKEN: other })).toEqual(refused('INTEGRATION_TOKEN'));
  expect(await list([], { INTEGRATION_TOKEN: one })).toMatchObject(called);
  expect(await list(['--token', one], { INTEGRATION_TOKEN: other })).toMatchObject(called);
  const gone = { INTEGRATION_TOKEN: other, INTEGRATION_TOKEN_FILE: join(newDirectory(), 'gone') };
  expect(await list([], gone)).toMatchObject(called);
  const keys = { INTEGRATION_API_KEY: other, INTEGRATION_API_KEY_FILE: INTEGRATION_TOKEN_FILE };
  expect(await sharedIntegration(['sync', '--to', 'copy.sqlite'], keys)).toEqual(
    refused('INTEGRATION_API_KEY'),
  );
});

test('a token with a line break is refused, and not printed', async () => {
  const settings = { ENVIRONMENT: 'live', INTEGRATION_TOKEN: `operator_live_${'0'.repeat(48)}\r` };
  const called = await Promise.all([
    sharedIntegration(['integration', 'list'], settings),
    sharedIntegration(['call'], settings),
  ]);
  const stderr = 'The token has characters that no token has, such as a line break.\n';
  expect(called).toEqual(called.map(() => ({ code: 2, stdout: '', stderr })));
});
