import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import type { LogLine } from '../../support/output-lines.js';
import { type Role, type ServiceProcess, serviceProcesses } from '../../support/service-process.js';
import { SignOnRecords } from '../sign-on/records.js';
import { People } from './people.js';
import { readerOf } from './readers.js';
import { type Strike, strike } from './strike.js';
import { type Phase, Traffic, type Turn } from './traffic.js';

const services = serviceProcesses();

const READERS = 32;
const USERINFO_READERS = 16;
const REDEEMERS = 16;
/** More than they redeem. */
const CODES = 8_000;
const CALM_ANSWERS = 5;
const STOOD_STILL = /^DEADLINE_EXCEEDED: /;

/** Many more requests than the edge lets begin, or wait for more than half a second. */
const BURST = 1_424;
/** Of a slow machine's first calls many have ended by the time of the last. */
const SOME_REFUSALS = 20;

const STRIKES = (['domain', 'edge', 'worker'] as const).flatMap((role) =>
  (['killed', 'frozen', 'drained'] as const).map((how): [Role, Strike] => [role, how]),
);

describe('a thousand calls a second of many callers', () => {
  let service: ServiceProcess;
  let people: People;
  let traffic: Traffic;
  let reader: Turn;

  beforeAll(async () => {
    service = await services.start({
      env: { GATEWAY_RATE_LIMIT: '999999999/1h', ROLE_SILENCE_LIMIT: '5m' },
    });
    people = await People.plant(service, CODES);
    traffic = new Traffic();
    reader = readerOf(service);
    traffic.add('reader', READERS, () => reader);
    traffic.add('userinfo', USERINFO_READERS, () => people.userinfoReader());
    traffic.add('redeemer', REDEEMERS, () => people.redeemer());
    // An edge reads the keys for its first request to userinfo, by a call of another id.
    await traffic.untilEachAnswered(2);
    await expectCalm();
  });
  afterAll(() => traffic?.close());

  test.each(STRIKES)('have each their own answer or an error while the %s is %s', async (role, how) => {
    const mayBeDone = how !== 'drained';
    const linesBefore = service.output.lines().length;
    const during = traffic.begin({ mayBeDone });
    await strike(role, how, service, traffic);
    const after = await expectRecovery({ mayBeDone });
    const [refused, cut] = [during.refused + after.refused, during.cut + after.cut];
    if (role === 'worker') {
      await expectStandStills(during);
      await expectStandStills(after);
    }
    if (role === 'domain' && how === 'drained') {
      expect(cancelledSince(linesBefore)).toEqual([]);
    }
    if (role !== 'edge' || how === 'frozen') {
      expect(cut).toBe(0);
    }
    if (role !== 'worker' && how !== 'frozen') {
      expect(refused + cut).toBeGreaterThan(0);
    }
    await expectCalm();
  });

  test('are refused if too many wait too long at the edge', async () => {
    const pid = service.pidOf('domain');
    const during = traffic.begin({ mayBeDone: true });
    process.kill(pid, 'SIGSTOP');
    const bursts: Promise<void>[] = [];
    // Another burst before each look: one may bring too few refusals on a slow machine.
    await eventually('refusals', async () => {
      bursts.push(traffic.burst(BURST, reader));
      return (await refusedAsTooMany()) > SOME_REFUSALS;
    }).finally(() => process.kill(pid, 'SIGCONT'));
    await Promise.all(bursts);
    await expectRecovery({ mayBeDone: true });
    expect(during.cut).toBe(0);
    await expectCalm();
  });

  describe('have in the end', () => {
    beforeAll(async () => {
      await traffic.end();
      await service.logged();
    });

    test('one answer or error for each request', () => {
      const { asked, answered, refused, cut } = traffic.total;
      expect(answered + refused + cut).toBe(asked);
      expect(traffic.faults).toEqual([]);
    });

    test('been told of each write that was done, but for those that a kill or a freeze ended', () => {
      expect(people.differences(new SignOnRecords(service))).toEqual([]);
    });

    test('caused no write twice, and no read more than twice', () => {
      const times = new Map<string, number>();
      for (const { msg, role, requestId, method } of service.output.lines()) {
        if (msg === 'call' && role === 'domain') {
          const call = `${method} ${requestId}`;
          times.set(call, (times.get(call) ?? 0) + 1);
        }
      }
      const repeated = [...times].filter(([call, count]) => count > (call.includes('IssueTokens') ? 1 : 2));
      expect(times.size).toBeGreaterThan(traffic.total.answered / 2);
      expect(repeated).toEqual([]);
    });
  });

  /** Calls of the edge that the domain began and did not answer, and streams that it did not end in order. */
  function cancelledSince(linesBefore: number) {
    const isCancelled = ({ caller, code }: LogLine) => caller === 'edge' && code === 'CANCELLED';
    return service.output.lines().slice(linesBefore).filter(isCancelled);
  }

  async function refusedAsTooMany(): Promise<number> {
    const metrics = await (await fetch(`${service.opsUrl}/metrics`)).text();
    return Number(/^http_requests_refused_total\{role="edge"\} (\d+)$/m.exec(metrics)?.[1]);
  }

  /** Each caller has an answer again, by itself. */
  async function expectRecovery(limits: { mayBeDone: boolean }): Promise<Phase> {
    const phase = traffic.begin(limits);
    await traffic.untilEachAnswered(1);
    await service.readiness();
    expect(traffic.faults).toEqual([]);
    return phase;
  }

  /** Each has several answers, and no error but those of a busy machine. */
  async function expectCalm(): Promise<void> {
    const phase = traffic.begin({ isCalm: true });
    await traffic.untilEachAnswered(CALM_ANSWERS);
    expect(traffic.faults).toEqual([]);
    expect(phase.cut).toBe(0);
    await expectStandStills(phase);
  }

  /** No refusals but those of a busy machine, which stops a role for a while. */
  async function expectStandStills(phase: Phase): Promise<void> {
    expect(phase.refused).toBeLessThanOrEqual(READERS + USERINFO_READERS + REDEEMERS);
    await service.logged();
    // The edge does not log all requests that it refuses because they waited too long for a turn.
    const late = service.output
      .lines()
      .filter(({ msg, requestId }) => msg === 'the domain did not answer' && phase.refusals.has(requestId));
    expect(
      late.map(({ internal }) => String(internal)).filter((reason) => !STOOD_STILL.test(reason)),
    ).toEqual([]);
    for (const { requestId } of late) {
      await eventually(`the call ${requestId} in the domain, which the edge gave up`, () =>
        service.output
          .lines()
          .some((line) => line.msg === 'call' && line.role === 'domain' && line.requestId === requestId),
      );
    }
  }
});
