import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { AttemptOutcome } from '../../generated/proto/integration/webhooks/v1/deliveries.js';
import { AddressGuard } from '../../src/delivery/address-guard.js';
import { leaseFrom } from '../../src/domain/webhooks/sending/sending.js';
import { ErrorCode, ServiceError } from '../../src/errors/service-error.js';
import { signalled } from '../support/signalled.js';
import { FakeDomain, HeldSender } from './fake-domain.js';
import { rawReceivers } from './raw-receivers.js';
import { relaysUnderTest } from './relays.js';
import { senders, targetAt } from './senders.js';

const start = relaysUnderTest();
const open = senders();
const raw = rawReceivers();

describe('a relay that was frozen', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  test.each([
    ['while the claim was under way', true, 'claim'],
    ['while it connected to the receiver', true, 'connect'],
    ['for less than the lease', false, 'claim'],
  ])('%s', async (_, isOver, when) => {
    const receiver = await raw.start((socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'));
    const domain = new FakeDomain();
    domain.url = targetAt(receiver.port).url;
    const real = performance.now.bind(performance);
    let frozenMs = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => real() + frozenMs);
    const thaw = () => {
      frozenMs = isOver ? domain.leaseMs : domain.leaseMs / 3;
    };
    const guard = new AddressGuard({ allowedNetworks: [], allowLoopback: true });
    const { addressesOf } = guard;
    guard.addressesOf = (origin) => {
      thaw();
      return addressesOf.call(guard, origin);
    };
    start({
      deliveries: {
        claimDeliveries: async (request, options) => {
          const claimed = await domain.claimDeliveries(request, options);
          if (when === 'claim') {
            thaw();
          }
          return claimed;
        },
        recordAttempts: (request) => domain.recordAttempts(request),
      },
      sender: open({ guard }),
    });
    const [id = ''] = domain.add(1);
    await domain.untilRecorded([id]);
    const { outcome, message } = domain.recorded.get(id)?.attempt ?? {};
    expect({ outcome, message, received: receiver.requests.length }).toEqual(
      isOver
        ? {
            outcome: AttemptOutcome.INTERRUPTED,
            message: expect.stringContaining('Nothing was sent'),
            received: 0,
          }
        : { outcome: AttemptOutcome.SUCCEEDED, message: '', received: 1 },
    );
  });
});

test('a result that the domain refuses is dropped after its lease, however far their clocks are apart', async () => {
  const { domain, log } = start({ sender: new HeldSender(() => true) });
  domain.aheadMs = 3_600_000;
  domain.leaseMs = 0;
  domain.recordFault = () => new ServiceError(ErrorCode.INVALID_REQUEST, 'No.');
  const [deliveryId] = domain.add(1);
  expect(await log.nextLine(({ level }) => level === 'error')).toMatchObject({ deliveryId });
});

test('a claim may take so long at most that the shortest lease leaves time for the whole attempt', async () => {
  const timeoutMs = 1_000;
  const { told: claimed, tell } = signalled<number>();
  const domain = new FakeDomain();
  start({
    deliveries: {
      claimDeliveries: (request, options) => {
        tell(options.deadlineMs ?? Number.POSITIVE_INFINITY);
        return domain.claimDeliveries(request, options);
      },
      recordAttempts: (request) => domain.recordAttempts(request),
    },
  });
  expect(leaseFrom(0, { timeoutMs })).toBeGreaterThanOrEqual((await claimed) + timeoutMs);
});

describe('the clock of the domain', () => {
  const HOUR_MS = 3_600_000;
  const differs = 'the clock of this machine differs from that of the domain, by which webhooks are signed';

  // The mocks of Jest use it themselves.
  const dateNow = Date.now;
  afterEach(() => {
    Date.now = dateNow;
    jest.restoreAllMocks();
  });

  /** By how much the time that the sender is given differs from that of this machine. */
  function aheadIn({ time }: HeldSender): number {
    return performance.now() + (time?.aheadMs ?? Number.NaN) - Date.now();
  }

  test('is told to the sender anew with each claim, and once to the log where it differs', async () => {
    const sender = new HeldSender(() => true);
    const { domain, log } = start({ sender });
    for (const ahead of [0, HOUR_MS, HOUR_MS, -HOUR_MS, 0]) {
      domain.aheadMs = ahead;
      await domain.untilRecorded(domain.add(1));
      // The domain takes its time between the call and its answer.
      expect(Math.abs(aheadIn(sender) - ahead)).toBeLessThan(HOUR_MS / 2);
    }
    const lines = log.lines().filter(({ level }) => level === 'warn' || level === 'info');
    expect(lines).toMatchObject([
      { level: 'warn', msg: differs, apartMs: expect.any(Number) },
      { level: 'info', msg: 'the clocks of this machine and of the domain agree again' },
    ]);
  });

  test.each([
    ['agrees, although calls take long to arrive', 7_000, [{ aheadMs: 0, backMs: 0 }], ['']],
    ['agrees, although the domain waits before it answers', 0, [{ aheadMs: 0, backMs: 9_000 }], ['']],
    ['is behind, although the domain waits', 0, [{ aheadMs: -8_000, backMs: 9_000 }], ['warn']],
    [
      'is ahead, which only a quick answer proves, and one disproves',
      0,
      [
        { aheadMs: 8_000, backMs: 9_000 },
        { aheadMs: 8_000, backMs: 0 },
        { aheadMs: 8_000, backMs: 9_000 },
        { aheadMs: 0, backMs: 9_000 },
        { aheadMs: 0, backMs: 0 },
      ],
      ['', 'warn', '', '', 'info'],
    ],
  ])('%s', async (_, thereMs, claims, levels) => {
    const real = performance.now.bind(performance);
    let passedMs = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => real() + passedMs);
    Date.now = () => dateNow() + passedMs;
    const domain = new FakeDomain();
    let backMs = 0;
    const { log } = start({
      sender: new HeldSender(() => true),
      deliveries: {
        claimDeliveries: async (request, options) => {
          passedMs += thereMs;
          const claimed = await domain.claimDeliveries(request, options);
          passedMs += backMs;
          return claimed;
        },
        recordAttempts: (request) => domain.recordAttempts(request),
      },
    });
    const told: (string | undefined)[] = [];
    for (const claim of claims) {
      const before = log.lines().length;
      domain.aheadMs = claim.aheadMs;
      backMs = claim.backMs;
      await domain.untilRecorded(domain.add(1));
      const lines = log.lines().slice(before);
      told.push(lines.find(({ level }) => level === 'warn' || level === 'info')?.level ?? '');
    }
    expect(told).toEqual(levels);
  });
});
