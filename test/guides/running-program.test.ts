import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { startScript } from '../support/run-script.js';
import { isRunning, root } from '../support/service-process.js';
import { RunningProgram } from './running-program.js';

test('a program and its children end with the process that started it, also when that is killed', async () => {
  const parent = startScript('test/guides/killed-parent.child.ts', []);
  const [said] = await once(parent.stdout, 'data');
  const pids = String(said).trim().split(' ').map(Number);
  expect(pids.map(isRunning)).toEqual([true, true]);
  parent.kill('SIGKILL');
  await eventually('the end of the program', async () => !pids.some(isRunning));
});

test('a text that a program does not say is a failure, which shows what it says', async () => {
  const args = ['-e', 'process.stdout.write("one")'];
  const program = new RunningProgram({ executable: process.execPath, args, cwd: root, env: {} });
  await expect(program.says('two')).rejects.toThrow('It does not say “two”:\none');
});
