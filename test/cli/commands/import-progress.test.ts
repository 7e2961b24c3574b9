import { expect, test } from '@jest/globals';
import { ImportProgress } from '../../../src/cli/commands/import/import-lines.js';

async function read(lines: readonly string[], fileBytes: number | undefined, isSent = (_: string) => true) {
  const progress = new ImportProgress(fileBytes);
  const source = async function* () {
    yield* lines.map((text) => ({ bytes: Buffer.byteLength(text), text }));
  };
  for await (const line of progress.counted(source())) {
    if (isSent(line.text ?? '')) {
      progress.sent();
    }
  }
  return progress;
}

test('a file that is read at once is imported as far as its lines are answered', async () => {
  const lines = Array.from({ length: 5_000 }, () => 'é'.repeat(4));
  const progress = await read(lines, 5_000 * 9);
  expect(progress.share(0)).toBe(0);
  expect(progress.share(127)).toBeCloseTo(127 / 5_000);
  expect(progress.share(5_000)).toBe(1);
});

test('lines that are not sent count as soon as a later line is answered', async () => {
  const progress = await read(['bad', 'bad', 'one', 'two'], 16, (line) => line !== 'bad');
  expect([0, 1, 2].map((answered) => progress.share(answered))).toEqual([0, 0.75, 1]);
});

test('the last line may have no end', async () => {
  expect((await read(['one'], 3)).share(1)).toBe(1);
});

test('no progress is shown for piped input, whose length is unknown', async () => {
  expect((await read(['one'], undefined)).share(1)).toBeUndefined();
});
