import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { progressOn } from '../../bench/harness/progress.js';
import { serviceProcesses } from '../../support/service-process.js';
import { describeWith } from '../../support/toolchains.js';
import { type Evidence, faultsOf } from './judge.js';
import { accountInWords, accountOf, repeatsOf } from './repeats.js';
import { WebhookStorm } from './storm.js';

/** `make chaos` asks for many; without it there are so few that they are soon done. */
const { CHAOS_SEED, CHAOS_EVENTS } = process.env;
const isLong = CHAOS_EVENTS !== undefined;
/** A run with chosen parameters shows its progress. */
const isWatched = isLong || CHAOS_SEED !== undefined;
const seed = Number(CHAOS_SEED ?? randomInt(1, 2 ** 31));
const size = isLong
  ? { ...manyEvents(Number(CHAOS_EVENTS)), retryDelays: '4s,8s' }
  : { edits: 20, eventsPerEdit: 16, rounds: 1, retryDelays: '200ms,400ms' };
const events = size.edits * size.eventsPerEdit;
/** On a machine with much else to do. */
const END_LIMIT_MS = 60_000 + events * 60;
const SHOWN_FAULTS = 20;

describeWith(
  'temporal',
  `${events} events to 20 subscribers while every process is killed (CHAOS_SEED=${seed})`,
  (executable) => {
    const services = serviceProcesses();
    const { progress, clear } = isWatched ? progressOn(process.stderr) : { progress: ignore, clear: ignore };
    let storm: WebhookStorm;
    let evidence: Evidence;

    beforeAll(async () => {
      progress(`CHAOS_SEED=${seed}`);
      const { start } = services;
      const directory = services.newDirectory();
      storm = await WebhookStorm.start({
        ...size,
        workersFirst: !isLong,
        seed,
        directory,
        temporal: executable,
        endLimitMs: END_LIMIT_MS,
        start,
        progress,
      });
      await storm.run();
      evidence = await storm.evidence();
      clear();
    }, END_LIMIT_MS * 3);

    afterAll(() => storm?.stop());

    test('each was killed as planned, and none ended by itself', () => {
      expect(storm.struck).toEqual(storm.strikes);
      const ends = storm.service.output
        .lines()
        .filter(({ msg }) => msg?.endsWith('ended, starting it again'));
      expect(ends.map(({ signal }) => signal)).toEqual(
        storm.strikes.filter(({ target }) => target !== 'temporal').map(() => 'SIGKILL'),
      );
    });

    if (isLong) {
      test(
        'every workflow comes to its end too',
        async () => {
          await storm.untilNoWorkflowRuns();
        },
        END_LIMIT_MS,
      );
    }

    test('every write that was acknowledged has its events, once', () => {
      expect(evidence.events).toHaveLength(storm.acknowledgedEvents);
      expect(evidence.events.length).toBe(events);
    });

    test('every event is delivered to, exhausted for or held for each subscription, and none is sent a fourth time', () => {
      const faults = faultsOf(evidence);
      expect({ count: faults.length, faults: faults.slice(0, SHOWN_FAULTS) }).toEqual({
        count: 0,
        faults: [],
      });
    });

    test('after a kill no more is sent again than was in flight, and nothing for another reason', () => {
      const account = accountOf(storm.kills, repeatsOf(evidence));
      if (isWatched) {
        process.stderr.write(`\n${accountInWords(account)}`);
      }
      expect(account.accounts).toHaveLength(
        storm.strikes.filter(({ target }) => target === 'worker' || target === 'domain').length,
      );
      expect(account.accounts.filter(({ kill, repeats }) => repeats > kill.inFlight)).toEqual([]);
      expect(account.unexplained).toEqual([]);
    });

    test('each kind of failed attempt occurred, and some deliveries were exhausted or held', () => {
      const statuses = new Set(evidence.deliveries.map(({ status }) => status));
      expect(statuses).toEqual(new Set(['DELIVERED', 'EXHAUSTED', 'HELD']));
      const outcomes = new Set(
        evidence.deliveries.flatMap(({ attempts }) => attempts.map(({ outcome }) => outcome)),
      );
      for (const outcome of ['STATUS_REFUSED', 'CONNECTION_FAILED', 'TIMED_OUT', 'INTERRUPTED']) {
        expect(outcomes).toContain(outcome);
      }
    });

    test('to the address that went away nothing was sent once that was known', () => {
      const ofGone = ({ subscriptionId }: { subscriptionId: string }) => subscriptionId === storm.goneId;
      expect(evidence.subscriptions.filter(({ isDisabled }) => isDisabled)).toMatchObject([
        { id: storm.goneId },
      ]);
      const unsent = evidence.deliveries
        .filter(ofGone)
        .filter(({ status, attemptsBegun }) => status === 'HELD' && attemptsBegun === 0);
      expect(unsent.length).toBeGreaterThan(0);
      const refused = evidence.records.filter(ofGone).filter(({ answer }) => answer === 410);
      expect(refused.length).toBeGreaterThan(0);
    });
  },
);

/** Many in a transaction, and still enough transactions for every kind of strike. */
function manyEvents(wanted: number) {
  const eventsPerEdit = Math.max(1, Math.min(500, Math.floor(wanted / 24)));
  const edits = Math.ceil(wanted / eventsPerEdit);
  return { edits, eventsPerEdit, rounds: Math.min(4, Math.floor(edits / 6)) };
}

function ignore(): void {
  // No caller waits for it.
}
