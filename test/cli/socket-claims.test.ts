import fs, { mkdirSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { refuseSecondDomain } from '../../src/cli/roles/domain-listeners.js';
import { claimRunDir, runDirOf } from '../../src/cli/sockets.js';
import { exitCodeOfStart } from '../../src/cli/startup-error.js';
import { loadConfig } from '../../src/config/config.js';
import { temporaryDirectories } from '../support/temporary-directory.js';

const directory = temporaryDirectories();

test.each([
  ['`integration serve`', claimRunDir],
  ['domain', refuseSecondDomain],
])('of two that start at once in a data directory, one is refused: %s', async (what, claim) => {
  const config = loadConfig({ ENVIRONMENT: 'demo', DATA_DIR: join(directory(), 'data') });
  const starting = async () => claim(config);
  const outcomes = await Promise.allSettled([starting(), starting()]);
  expect(outcomes).toEqual([
    expect.objectContaining({ status: 'fulfilled' }),
    {
      status: 'rejected',
      reason: expect.objectContaining({
        message: expect.stringContaining(`Another ${what} already runs on `),
      }),
    },
  ]);
});

test.each([
  ['directory', 'mkdirSync', 'ENOSPC'],
  ['lock', 'openSync', 'EMFILE'],
] as const)(
  'a socket whose %s cannot be made for now ends the start so that it is made again',
  (_, call, code) => {
    const config = loadConfig({ ENVIRONMENT: 'demo', DATA_DIR: join(directory(), 'data') });
    mkdirSync(runDirOf(config), { recursive: true });
    const failing = jest.spyOn(fs, call).mockImplementation(() => {
      throw Object.assign(new Error(code), { code });
    });
    syncBuiltinESMExports();
    let refusal: unknown;
    try {
      refusal = claimRunDir(config);
    } catch (error) {
      refusal = error;
    } finally {
      failing.mockRestore();
      syncBuiltinESMExports();
    }
    expect(exitCodeOfStart(refusal)).toBe(1);
  },
);

test('a domain leaves its socket to one of an earlier release, which holds no lock', async () => {
  const path = join(directory(), 'data', 'run', 'domain.sock');
  const config = loadConfig({ ENVIRONMENT: 'demo', DATA_DIR: dirname(dirname(path)) });
  mkdirSync(dirname(path), { recursive: true });
  const earlier = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => earlier.listen(path, resolve));
  try {
    await expect(refuseSecondDomain(config)).rejects.toThrow(`Another domain already runs on ${path}.`);
  } finally {
    earlier.close();
  }
});
