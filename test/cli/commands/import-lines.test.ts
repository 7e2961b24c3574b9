import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { linesOf } from '../../../src/cli/commands/file-lines.js';
import { BYTES_IN_MESSAGE, messagesOf } from '../../../src/cli/commands/import/import-lines.js';

const OPTIONS = { dryRun: false, stopAtFirstRefusal: false, reportIds: false };

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const value of values) {
    found.push(value);
  }
  return found;
}

test('lines are the same however they are cut into chunks, also within a character', async () => {
  const text = '{"name": "Zoë"}\r\n\n{"name": "日本"}\nlast';
  const expected = text.split('\n').map((line) => ({ bytes: Buffer.byteLength(line), text: line }));
  for (const size of [1, 2, 3, 7, 1_000]) {
    const content = Buffer.from(text);
    const count = Math.ceil(content.length / size);
    const chunks = Array.from({ length: count }, (_, at) => content.subarray(at * size, (at + 1) * size));
    expect(await all(linesOf(Readable.from(chunks), BYTES_IN_MESSAGE))).toEqual(expected);
  }
});

test('a line above the limit is refused by its number, however long it is, and the next ones are read', async () => {
  const part = Buffer.alloc(65_536, 'x');
  const input = function* () {
    yield Buffer.from(`{}\n${'y'.repeat(BYTES_IN_MESSAGE)}\n`);
    // More than a text can have.
    for (let count = 0; count < 9_000; count += 1) {
      yield part;
    }
    yield Buffer.from('\n{}');
  };
  const misfits: object[] = [];
  const lines = linesOf(Readable.from(input()), BYTES_IN_MESSAGE);
  const messages = await all(
    messagesOf(
      lines,
      OPTIONS,
      () => [],
      (misfit) => misfits.push(misfit),
    ),
  );
  expect(messages).toEqual([{ options: OPTIONS }, { lines: { lines: [{ line: 1 }, { line: 4 }] } }]);
  expect(misfits).toEqual([
    { line: 2, violations: [{ path: 'line', message: 'must be a JSON object' }] },
    { line: 3, violations: [{ path: 'line', message: 'must not be longer than 250000 bytes' }] },
  ]);
});

test('a line in another encoding is refused, and a byte order mark is no part of the first line', async () => {
  const latin1 = Buffer.from('{"name": "Zo\u00eb"}\n', 'latin1');
  const input = [Buffer.from('\ufeff{"name": "Zoë"}\n'), latin1, Buffer.from('{}')];
  const misfits: object[] = [];
  const lines = linesOf(Readable.from(input), BYTES_IN_MESSAGE);
  const messages = await all(
    messagesOf(
      lines,
      OPTIONS,
      () => [],
      (misfit) => misfits.push(misfit),
    ),
  );
  const sent = [{ name: 'Zoë', line: 1 }, { line: 3 }];
  expect(messages).toEqual([{ options: OPTIONS }, { lines: { lines: sent } }]);
  expect(misfits).toEqual([{ line: 2, violations: [{ path: 'line', message: 'must be encoded as UTF-8' }] }]);
});

test('an error of the check of a line is not taken for a line that is no JSON object', async () => {
  const lines = async function* () {
    yield { bytes: 2, text: '{}' };
  };
  const check = () => {
    throw new RangeError('too much');
  };
  const messages = messagesOf(lines(), OPTIONS, check, () => undefined);
  await expect(messages.next()).resolves.toEqual({ done: false, value: { options: OPTIONS } });
  await expect(messages.next()).rejects.toThrow('too much');
});
