import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { root } from '../../src/codegen/layout.js';

/** Each step prints its name itself: a shell that prints it before `exec` can lose a signal in between. */
const step = (name: string) =>
  `'${process.execPath}' -e 'process.stdout.write("${name}"); setTimeout(() => {}, 120_000)'`;
const STEPS = `
  set -m
  ${step('behind')} &
  set +m
  ${step('before')}
`;

test.each(['SIGTERM', 'SIGHUP'] as const)(
  'a check of a change that gets %s ends what it runs, before and behind',
  async (signal) => {
    const script = readFileSync(join(root, '.ci/run'), 'utf8');
    const trap = script.split('\n').find((line) => line.startsWith('trap '));
    const run: ChildProcess = spawn('bash', ['-c', `${trap}\n${STEPS}`], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await new Promise<void>((resolve) => {
      let printed = '';
      run.stdout?.on('data', (data) => {
        printed += data;
        if (['behind', 'before'].every((name) => printed.includes(name))) {
          resolve();
        }
      });
    });
    run.kill(signal);
    // The output ends with the last process that has it.
    expect(await once(run, 'close')).toEqual([null, signal]);
  },
);
