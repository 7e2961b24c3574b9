import { expect, test } from '@jest/globals';
import { runScript } from '../support/run-script.js';

test('what a process has allocated is collected when it rests, and not while it works', async () => {
  await expect(runScript('test/cli/resting-process.ts', [])).resolves.toBe('collected at rest');
});
