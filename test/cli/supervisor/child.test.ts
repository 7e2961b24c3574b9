import { ChildProcess } from 'node:child_process';
import { afterEach, expect, jest, test } from '@jest/globals';
import { Child } from '../../../src/cli/supervisor/child.js';
import { eventually } from '../../support/eventually.js';
import { recordedLog } from '../../support/recorded-log.js';

afterEach(() => {
  jest.restoreAllMocks();
});

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

test('why an earlier process cannot start is not told of a later one', async () => {
  const { log, lines, nextLine } = recordedLog();
  const made = jest.spyOn(ChildProcess.prototype, 'once');
  const processes = () => [...new Set(made.mock.contexts as ChildProcess[])];
  const refusals: unknown[] = [];
  const child = new Child({
    role: 'edge',
    runDir: '/nowhere/run',
    // Lives until it is killed, or this process ends.
    environment: {
      NODE_OPTIONS:
        '--import="data:text/javascript,process.on(`disconnect`,process.exit);await(new(Promise)(()=>{}))"',
    },
    graceMs: 1_000,
    silenceLimitMs: 1_000,
    log,
    onCannotStart: (refusal) => refusals.push(refusal),
  });
  child.start();
  const [first] = processes();
  const sayLate = () => first?.emit('message', { type: 'cannot-start', sentence: 'The port is taken.' });
  first?.kill('SIGKILL');
  await nextLine(({ delayMs }) => delayMs === 100);
  sayLate();
  const second = await eventually('the second process', () => processes()[1]);
  sayLate();
  second.kill('SIGKILL');
  await nextLine(({ delayMs }) => delayMs === 200);
  await child.stop();
  expect(lines().map(({ reason }) => reason)).toEqual([undefined, undefined]);
  expect(refusals).toEqual([]);
});
