import { expect, test } from '@jest/globals';
import { Child } from '../../../src/cli/supervisor/child.js';
import { recordedLog } from '../../support/recorded-log.js';

test('a role whose process the system refuses is tried again, and the supervisor stays', async () => {
  const { log, lines } = recordedLog();
  const child = new Child({
    role: 'edge',
    runDir: '/nowhere/run',
    // Refused by Node itself with an exception, as it does when the system has no memory for a process.
    environment: { SPOILT: 'a\0b' },
    graceMs: 1_000,
    silenceLimitMs: 1_000,
    log,
    onCannotStart: () => undefined,
  });
  child.start();
  expect(lines()).toMatchObject([
    { msg: 'edge ended, starting it again', delayMs: 100, reason: expect.stringContaining('SPOILT') },
  ]);
  child.drain();
  await child.stop();
});
