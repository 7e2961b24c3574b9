import { describe, expect, test } from '@jest/globals';
import { AttemptOutcome } from '../../generated/proto/integration/webhooks/v1/deliveries.js';
import { DeliveryServiceService } from '../../generated/proto/integration/webhooks/v1/sending.js';
import { Relay } from '../../src/delivery/relay.js';
import { serve } from '../../src/rpc/handlers.js';
import { type RpcRig, rpcRigs } from '../rpc/rig.js';
import { LONGER_THAN_A_TEST_MS } from '../support/eventually.js';
import { type RecordedLog, recordedLog } from '../support/recorded-log.js';
import { FakeDomain } from './fake-domain.js';
import { noContent, rawReceivers } from './raw-receivers.js';
import { secret, senders } from './senders.js';

const GRACE_MS = 5_000;
const CALL = { requestId: 'test', deadlineMs: 20_000 };
const rigs = rpcRigs();
const raw = rawReceivers();
const open = senders();

/** The domain in memory behind real gRPC; every delivery goes to the port. */
function serviceOf(domain: FakeDomain, port: number) {
  return serve(DeliveryServiceService, {
    claimDeliveries: async (request, { signal }) => {
      const claimed = await domain.claimDeliveries(request, { ...CALL, signal });
      const targets = claimed.targets.map(({ subscriptionId }) => ({
        subscriptionId,
        url: `http://127.0.0.1:${port}/${subscriptionId}`,
        signingSecrets: [secret],
      }));
      return { ...claimed, targets };
    },
    recordAttempts: (request) => domain.recordAttempts(request),
  });
}

function relayTo(
  rig: RpcRig,
  log: RecordedLog['log'],
  slots: { sends: number; sendsPerSubscription: number },
): Relay {
  const deliveries = rig.channel().clientOf(DeliveryServiceService);
  return new Relay({ deliveries, sender: open(), log, ...slots });
}

describe('the relay over gRPC', () => {
  test('sends what a domain has, and continues with the next one at its address', async () => {
    const receiver = await raw.start(noContent);
    const before = new FakeDomain();
    const rig = await rigs.start([serviceOf(before, receiver.port)]);
    const log = recordedLog();
    const relay = relayTo(rig, log.log, { sends: 32, sendsPerSubscription: 8 });
    const idsBefore = before.add(200);
    await before.untilRecorded(idsBefore);

    // Its last answer may get lost: the relay then records those attempts with the next domain too.
    rig.server.forceShutdown();
    const after = new FakeDomain('later');
    await rigs.start([serviceOf(after, receiver.port)], { address: rig.address });
    const ids = after.add(200);
    await after.untilRecorded(ids);
    await relay.stop(GRACE_MS);

    const recorded = [
      ...idsBefore.map((id) => before.recorded.get(id)),
      ...ids.map((id) => after.recorded.get(id)),
    ];
    expect(recorded.map((result) => result?.attempt?.outcome)).toEqual(
      Array(400).fill(AttemptOutcome.SUCCEEDED),
    );
    expect(receiver.requests).toHaveLength(400);
  });

  test('records with the next domain what it sent for the one before', async () => {
    let answer: () => void = () => undefined;
    const receiver = await raw.start((socket) => {
      answer = () => noContent(socket, 1);
    });
    const before = new FakeDomain();
    const rig = await rigs.start([serviceOf(before, receiver.port)]);
    const relay = relayTo(rig, recordedLog().log, { sends: 4, sendsPerSubscription: 4 });
    const arrived = new Promise<void>((resolve) => {
      receiver.server.on('connection', (socket) => socket.once('data', () => setImmediate(resolve)));
    });
    const [id = ''] = before.add(1);
    await arrived;
    rig.server.forceShutdown();
    answer();
    const after = new FakeDomain();
    await rigs.start([serviceOf(after, receiver.port)], { address: rig.address });
    await after.untilRecorded([id]);
    expect(after.recorded.get(id)?.attempt).toMatchObject({ number: 1, outcome: AttemptOutcome.SUCCEEDED });
    expect(receiver.requests).toHaveLength(1);
    await relay.stop(GRACE_MS);
  });

  test('records a refusal whose Retry-After is further away than any time that is waited', async () => {
    const receiver = await raw.start((socket) =>
      socket.write(
        'HTTP/1.1 503 Busy\r\nretry-after: Fri, 31 Dec 9999 23:59:59 GMT\r\ncontent-length: 0\r\n\r\n',
      ),
    );
    const domain = new FakeDomain();
    const rig = await rigs.start([serviceOf(domain, receiver.port)]);
    const relay = relayTo(rig, recordedLog().log, { sends: 4, sendsPerSubscription: 4 });
    const [id = ''] = domain.add(1);
    await domain.untilRecorded([id]);
    expect(domain.recorded.get(id)).toMatchObject({
      attempt: { outcome: AttemptOutcome.STATUS_REFUSED, httpStatus: 503 },
      retryAfterSeconds: 999_999_999,
    });
    await relay.stop(GRACE_MS);
  });

  test('that has nothing to do stops before its claim and its grace are over', async () => {
    const domain = new FakeDomain();
    const rig = await rigs.start([serviceOf(domain, 1)]);
    const relay = relayTo(rig, recordedLog().log, { sends: 4, sendsPerSubscription: 4 });
    await domain.until(() => true);
    await relay.stop(LONGER_THAN_A_TEST_MS);
  });
});
