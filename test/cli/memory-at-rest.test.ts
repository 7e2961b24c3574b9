import { expect, test } from '@jest/globals';
import { runScript } from '../support/run-script.js';

test('what a process has allocated is collected when it rests, and not while it works', async () => {
  await expect(runScript('test/cli/resting-process.ts', [])).resolves.toBe('collected at rest');
});

test('memory that a process no longer uses is given back to the system when it rests', async () => {
  // With its reducer, V8 itself would give the memory back some seconds later.
  const given = runScript('test/cli/given-back-process.ts', [], ['--no-memory-reducer']);
  await expect(given).resolves.toBe('given back');
});
