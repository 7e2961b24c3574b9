import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { root } from '../../src/codegen/layout.js';

const STEPS = `
  set -m
  sleep 120 &
  set +m
  bash -c 'echo begun; exec sleep 120'
`;

test.each(['SIGTERM', 'SIGHUP'] as const)(
  'a check of a change that gets %s ends what it runs, before and behind',
  async (signal) => {
    const script = readFileSync(join(root, '.ci/run'), 'utf8');
    const trap = script.split('\n').find((line) => line.startsWith('trap '));
    const run: ChildProcess = spawn('bash', ['-c', `${trap}\n${STEPS}`], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(run.stdout as NodeJS.ReadableStream, 'data');
    run.kill(signal);
    // The output ends with the last process that has it.
    expect(await once(run, 'close')).toEqual([null, signal]);
  },
);
