import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { root } from '../../src/codegen/layout.js';

const STEPS = `
  set -m
  bash -c 'echo behind; exec sleep 120' &
  set +m
  bash -c 'echo before; exec sleep 120'
`;

test.each(['SIGTERM', 'SIGHUP'] as const)(
  'a check of a change that gets %s ends what it runs, before and behind',
  async (signal) => {
    const script = readFileSync(join(root, '.ci/run'), 'utf8');
    const trap = script.split('\n').find((line) => line.startsWith('trap '));
    const run: ChildProcess = spawn('bash', ['-c', `${trap}\n${STEPS}`], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    // A signal that comes before a step is its own program is caught by the shell of the step, and lost.
    await new Promise<void>((resolve) => {
      let printed = '';
      run.stdout?.on('data', (data) => {
        printed += data;
        if (['behind', 'before'].every((step) => printed.includes(step))) {
          resolve();
        }
      });
    });
    run.kill(signal);
    // The output ends with the last process that has it.
    expect(await once(run, 'close')).toEqual([null, signal]);
  },
);
