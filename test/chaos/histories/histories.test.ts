import { randomInt } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { progressOn } from '../../bench/harness/progress.js';
import { serviceProcesses } from '../../support/service-process.js';
import { describeWith } from '../../support/toolchains.js';
import { builtChecker, inWords, type Verdict, verdictsOf } from './checker.js';
import type { Operation } from './history.js';
import { strikesOf } from './outages.js';
import { type RecordedRun, recordedRun } from './recorded-run.js';

/** `make chaos` asks for many; without it there are so few that they are soon done. */
const { CHAOS_SEED, CHAOS_EVENTS } = process.env;
const isLong = CHAOS_EVENTS !== undefined;
/** A run with chosen parameters shows its progress. */
const isWatched = isLong || CHAOS_SEED !== undefined;
const seed = Number(CHAOS_SEED ?? randomInt(1, 2 ** 31));
/** In few operations, fewer clients meet at the same families more often. */
const clients = isLong ? 50 : 16;
const operations = isLong ? Number(CHAOS_EVENTS) : 800;
const strikes = isLong
  ? strikesOf(seed, Math.max(1, Math.min(10, Math.floor(operations / 2_000))))
  : strikesOf(seed, 1, ['domain killed', 'domain frozen', 'answers to commits lost']);
/** For each family. In the long run, one with fifty calls at once may take a minute. */
const CHECK_LIMIT_S = 180;
const LIMIT_MS = 300_000 + strikes.length * 30_000 + operations * 60;

describeWith(
  'go',
  `${operations} uses of codes and tokens by ${clients} clients at two domains that fail in turn (CHAOS_SEED=${seed})`,
  (go) => {
    const services = serviceProcesses();
    const { progress, clear } = isWatched ? progressOn(process.stderr) : { progress: ignore, clear: ignore };
    let checker: string;
    let run: RecordedRun;
    let verdicts: Map<string, Verdict>;

    beforeAll(async () => {
      checker = await builtChecker(go);
      progress(`CHAOS_SEED=${seed}`);
      run = await recordedRun(services, { seed, clients, operations, strikes, progress });
      progress('checking');
      verdicts = await verdictsOf(checker, run.operations, CHECK_LIMIT_S);
      clear();
    }, LIMIT_MS);

    test('each domain failed as planned', () => {
      expect(run.struck).toEqual(strikes);
    });

    test('are linearizable: each code is good once, each refresh token until the next, and none that is revoked', () => {
      const bad = [...verdicts].filter(([, verdict]) => verdict !== 'Ok');
      const shown = bad.map(([family, verdict]) => `${family} is ${verdict}:\n${inWords(of(family))}`);
      expect(shown.join('\n\n')).toBe('');
      expect([...verdicts.keys()].sort()).toEqual(
        [...new Set(run.operations.map(({ family }) => family))].sort(),
      );
    });

    test('are of each kind, with each outcome that there can be', () => {
      expect(run.lateAnswers).toBeGreaterThan(0);
      const seen = new Set(run.operations.map(({ kind, outcome }) => `${kind} ${outcome}`));
      for (const kind of ['redeem', 'refresh', 'userinfo']) {
        expect([...seen]).toEqual(expect.arrayContaining([`${kind} granted`, `${kind} refused`]));
      }
      expect(run.operations.some(({ outcome }) => outcome === 'unknown')).toBe(true);
      // A token that two answers gave: a repetition, or two uses at once.
      const given = run.operations.flatMap(({ family, gives }) => (gives ? [`${family} ${gives}`] : []));
      expect(new Set(given).size).toBeLessThan(given.length);
      if (isLong) {
        expect(run.lateUses).toBeGreaterThan(0);
      }
      if (isWatched) {
        process.stderr.write(
          `\n${account(run.operations)}; ${verdicts.size} families, ${run.struck.length} outages, ${run.lateAnswers} late answers\n`,
        );
      }
    });

    function of(family: string): Operation[] {
      return run.operations.filter((operation) => operation.family === family);
    }
  },
);

/** How many of each kind had each outcome. */
function account(all: readonly Operation[]): string {
  const counts = new Map<string, number>();
  for (const { kind, outcome } of all) {
    const what = `${kind} ${outcome}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return `${all.length} operations: ${[...counts].map(([what, count]) => `${count} ${what}`).join(', ')}`;
}

function ignore(): void {
  // No caller waits for it.
}
