import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NewLogEntries } from '../../../../src/domain/webhooks/logs/log-entries.js';
import { logEntryRows, type PlantedLogEntry } from './planted-log-entries.js';

const START = 1_790_000_000_000;

const entry = (number: number, at: number, committedAt = at): PlantedLogEntry => ({
  at,
  committedAt,
  deliverySeq: number,
  attemptNumber: number % 2 === 0 ? 0 : 1 + (number % 3),
});

describe('what happened', () => {
  async function readAt(planted: PlantedLogEntry[], from: number, looks: readonly number[]) {
    let now = 0;
    const logEntries = new NewLogEntries(
      logEntryRows(planted, () => now),
      from,
    );
    const read: number[][] = [];
    for (const look of looks) {
      now = look;
      const seqs: number[] = [];
      for await (const page of logEntries.upTo(now)) {
        expect(page.map(({ at }) => at)).toEqual(page.map(({ at }) => at).sort((a, b) => a - b));
        seqs.push(...page.map(({ deliverySeq }) => deliverySeq));
      }
      read.push(seqs);
    }
    return read;
  }

  test('is read once, though it is committed late, many at a time and while others read', async () => {
    const times = fc.array(
      fc.record({ at: fc.integer({ min: 0, max: 20_000 }), lateMs: fc.integer({ min: 0, max: 1_500 }) }),
      { maxLength: 60 },
    );
    const pauses = fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(times, pauses, async (moments, steps) => {
        const planted = moments.map(({ at, lateMs }, index) => entry(index, START + at, START + at + lateMs));
        let now = START;
        const looks = steps.map((step) => {
          now += step;
          return now;
        });
        const read = (await readAt(planted, START, [...looks, START + 1_000_000])).flat();
        expect(read.sort()).toEqual(planted.map(({ deliverySeq }) => deliverySeq).sort());
      }),
      { numRuns: 300 },
    );
  });

  test('is read page by page in the order of time, however much there is', async () => {
    const planted = Array.from({ length: 4_000 }, (_, index) =>
      entry(index, START + ((index * 7_919) % 997)),
    );
    const [read] = await readAt(planted, START, [START + 5_000]);
    expect(new Set(read).size).toBe(4_000);
    const atOf = new Map(planted.map(({ deliverySeq, at }) => [deliverySeq, at]));
    const times = (read ?? []).map((seq) => atOf.get(seq) as number);
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });

  test('all in one millisecond is read whole', async () => {
    const planted = Array.from({ length: 3_000 }, (_, index) => entry(index, START));
    const [first, second] = await readAt(planted, START, [START, START + 1]);
    expect(new Set(first).size).toBe(3_000);
    expect(second).toEqual([]);
  });

  test('before the time to begin with is left out, and at that time is not', async () => {
    const planted = [entry(0, START - 1), entry(1, START), entry(2, START + 1)];
    const [read] = await readAt(planted, START, [START + 10]);
    expect(read).toEqual([planted[1]?.deliverySeq, planted[2]?.deliverySeq]);
  });

  test('is read again where a late success corrects how an attempt ended', async () => {
    const interrupted = entry(1, START);
    const corrected = { ...interrupted, at: START + 900, committedAt: START + 900 };
    const read = await readAt([interrupted, corrected], START, [START + 1, START + 1_000, START + 1_001]);
    expect(read).toEqual([[interrupted.deliverySeq], [corrected.deliverySeq], []]);
  });

  test('is read little more often than it happens, however much that is', async () => {
    const seconds = 10;
    const planted = Array.from({ length: seconds * 400 }, (_, index) =>
      entry(index, START + Math.floor(index * 2.5)),
    );
    let now = START;
    let rowsRead = 0;
    const rows = logEntryRows(planted, () => now);
    const happenedIn: typeof rows.happenedIn = async (...range) => {
      const found = await rows.happenedIn(...range);
      rowsRead += found.length;
      return found;
    };
    const logEntries = new NewLogEntries({ ...rows, happenedIn }, now);
    let read = 0;
    for (; now <= START + seconds * 1_000; now += 250) {
      for await (const page of logEntries.upTo(now)) {
        read += page.length;
      }
    }
    expect(read).toBe(planted.length);
    expect(rowsRead / planted.length).toBeLessThan(4);
  });
});
