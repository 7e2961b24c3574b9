import { expect, test } from '@jest/globals';
import { messagesOf } from '../../../src/cli/commands/import/import-lines.js';

test('an error of the check of a line is not taken for a line that is no JSON object', async () => {
  const lines = async function* () {
    yield '{}';
  };
  const check = () => {
    throw new RangeError('too much');
  };
  const options = { dryRun: false, stopAtFirstRefusal: false, reportIds: false };
  const messages = messagesOf(lines(), options, check, () => undefined);
  await expect(messages.next()).resolves.toEqual({ done: false, value: { options } });
  await expect(messages.next()).rejects.toThrow('too much');
});
