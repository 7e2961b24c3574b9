import { createServer } from 'node:net';
import { Client, credentials } from '@grpc/grpc-js';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { MaintenanceServiceService } from '../../generated/proto/integration/maintenance/v1/maintenance.js';
import { OperatorServiceService } from '../../generated/proto/integration/operator/v1/operator.js';
import { ServiceTokenRefusal } from '../../src/domain/access/service-tokens.js';
import { ErrorCode } from '../../src/errors/service-error.js';
import type { Authenticate } from '../../src/rpc/callers.js';
import { type CallContext, type Handler, serve } from '../../src/rpc/handlers.js';
import { eventually, LONGER_THAN_A_TEST_MS } from '../support/eventually.js';
import { fakeTimeouts } from '../support/fake-timeouts.js';
import { signalled } from '../support/signalled.js';
import { CALL, refusalOf, rpcRigs, TOKENS } from './rig.js';

type PurgeHandler = Handler<typeof MaintenanceServiceService.purgeExpired>;

const ANSWER = { counts: [], more: true, otherRunActive: false };
/** The limit of a call that the handler does not answer. */
const LONG = 2;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4/;

const aborted = ({ signal }: CallContext) =>
  new Promise<void>((resolve) => {
    signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve());
  });

describe('a call', () => {
  const rigs = rpcRigs();
  afterEach(() => {
    jest.useRealTimers();
  });

  /** Closes each connection at once. */
  async function closing() {
    let attempts = 0;
    const path = `${rigs.directory()}/s`;
    const server = createServer((socket) => {
      attempts += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    return { address: `unix:${path}`, attempts: () => attempts, close: () => server.close() };
  }

  async function serving(purgeExpired: PurgeHandler) {
    const rig = await rigs.start([serve(MaintenanceServiceService, { purgeExpired })]);
    const client = rig.channel().clientOf(MaintenanceServiceService);
    return { ...rig, call: client.purgeExpired };
  }

  test('brings the message, the caller and the request id to the handler, and the answer back', async () => {
    const seen: unknown[] = [];
    const { call } = await serving(async (request, { requestId, identity }) => {
      seen.push([request, requestId, identity.caller]);
      return ANSWER;
    });
    await expect(call({ limit: 7 }, { ...CALL, requestId: 'req/1:a.b_c-d' })).resolves.toEqual(ANSWER);
    expect(seen).toEqual([[{ limit: 7 }, 'req/1:a.b_c-d', 'maintenance']]);
  });

  test.each([
    { title: 'none', requestId: '' },
    { title: 'one with blanks', requestId: 'two words' },
    { title: 'one with quotes', requestId: '"quoted"' },
    { title: 'one that is too long', requestId: 'x'.repeat(201) },
  ])('with a request id unfit for a log ($title) gets a new one', async ({ requestId }) => {
    const { call, lines } = await serving(async () => ANSWER);
    await call({ limit: 1 }, { ...CALL, requestId });
    expect(lines[0]?.requestId).toMatch(UUID);
  });

  test('is one line of the log and one of the metrics', async () => {
    const { call, lines, timed } = await serving(async () => ANSWER);
    await call({ limit: 1 }, CALL);
    const method = 'integration.maintenance.v1.MaintenanceService/PurgeExpired';
    expect(lines).toEqual([
      {
        level: 'debug',
        message: 'call',
        requestId: 'r',
        method: `/${method}`,
        caller: 'maintenance',
        peer: 'unknown',
        code: 'OK',
        durationMs: expect.any(Number),
      },
    ]);
    expect(timed).toEqual([{ method, code: 'OK', durationMs: expect.any(Number) }]);
  });

  test('of a person is told at the level that people read', async () => {
    const listIntegrations = async () => ({ integrations: [], nextPageToken: '' });
    const { channel, lines } = await rigs.start([serve(OperatorServiceService, { listIntegrations })]);
    const client = channel(TOKENS.operator).clientOf(OperatorServiceService);
    await client.listIntegrations({ pageSize: 0, pageToken: '' }, CALL);
    expect(lines).toMatchObject([{ level: 'info', caller: 'operator' }]);
  });

  test('names the id of its token, the address of its peer, and the person it is made for', async () => {
    const listIntegrations = async () => ({ integrations: [], nextPageToken: '' });
    const authenticate: Authenticate = (token) => {
      if (token === 'expired') {
        throw new ServiceTokenRefusal('expired', 'stk_expired');
      }
      return { caller: 'operator', tokenId: 'stk_1' };
    };
    const services = [serve(OperatorServiceService, { listIntegrations })];
    const { channel, lines } = await rigs.start(services, { authenticate, address: '127.0.0.1:0' });
    const list = (token: string, onBehalfOf?: string) =>
      channel(token)
        .clientOf(OperatorServiceService)
        .listIntegrations({ pageSize: 0, pageToken: '' }, { ...CALL, onBehalfOf });
    await list('secret-token', 'case-12');
    await refusalOf(list('secret-token', 'not one id'));
    await refusalOf(list('expired', 'case-12'));
    const peer = expect.stringMatching(/^127\.0\.0\.1:\d+$/);
    const ended = lines.filter(({ message }) => message === 'call');
    expect(ended.map(({ tokenId, onBehalfOf, peer }) => ({ tokenId, onBehalfOf, peer }))).toEqual([
      { tokenId: 'stk_1', onBehalfOf: 'case-12', peer },
      { tokenId: 'stk_1', onBehalfOf: undefined, peer },
      { tokenId: 'stk_expired', onBehalfOf: 'case-12', peer },
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/secret-token|not one id/);
  });

  test('that is refused is told with its status, and the token is not told', async () => {
    const { channel, lines, timed } = await serving(async () => ANSWER);
    for (const token of ['a-wrong-token', TOKENS.platform]) {
      await refusalOf(channel(token).clientOf(MaintenanceServiceService).purgeExpired({ limit: 1 }, CALL));
      expect(JSON.stringify(lines)).not.toContain(token);
    }
    expect(timed.map(({ code }) => code)).toEqual(['UNAUTHENTICATED', 'PERMISSION_DENIED']);
    const ended = lines.filter(({ message }) => message === 'call');
    expect(ended.map(({ code }) => code)).toEqual(['UNAUTHENTICATED', 'PERMISSION_DENIED']);
  });

  test('past its deadline is UNAVAILABLE to the caller and aborted for the handler', async () => {
    let over: Promise<void> | undefined;
    const { told: underWay, tell: begin } = signalled();
    const { call, timed } = await serving(async ({ limit }, context) => {
      if (limit === LONG) {
        over = aborted(context);
        begin();
        await over;
      }
      return ANSWER;
    });
    await call({ limit: 1 }, CALL);
    fakeTimeouts();
    const refused = refusalOf(call({ limit: LONG }, CALL));
    await underWay;
    jest.advanceTimersByTime(CALL.deadlineMs);
    const refusal = await refused;
    expect(refusal.code).toBe(ErrorCode.UNAVAILABLE);
    expect(refusal.retryAfterSeconds).toBe(1);
    expect(refusal.internal).toContain('DEADLINE_EXCEEDED');
    await over;
    await eventually('the call has ended', () => timed.length === 2);
    expect(timed[1]).toMatchObject({ code: 'CANCELLED' });
  });

  test('is aborted when its caller disconnects, also where the handler asks for the signal only later', async () => {
    const { told: under, tell: started } = signalled();
    const { told: outcome, tell: ended } = signalled<boolean>();
    const { channel } = await serving(async (_, context) => {
      started();
      await aborted(context);
      ended(context.signal.aborted);
      return ANSWER;
    });
    const leaving = channel();
    const options = { ...CALL, deadlineMs: LONGER_THAN_A_TEST_MS };
    const call = refusalOf(leaving.clientOf(MaintenanceServiceService).purgeExpired({ limit: 1 }, options));
    await under;
    leaving.close();
    await call;
    await expect(outcome).resolves.toBe(true);
  });

  test('to a server that does not exist is UNAVAILABLE before its deadline', async () => {
    const channel = rigs.channelTo(`unix:${rigs.directory()}/nobody`);
    const refusal = await refusalOf(
      channel
        .clientOf(MaintenanceServiceService)
        .purgeExpired({ limit: 1 }, { requestId: 'r', deadlineMs: LONGER_THAN_A_TEST_MS }),
    );
    expect(refusal.code).toBe(ErrorCode.UNAVAILABLE);
  });

  test('finds a server that went away and came back, on the same channel', async () => {
    const address = `unix:${rigs.directory()}/s`;
    const service = serve(MaintenanceServiceService, { purgeExpired: async () => ANSWER });
    const first = await rigs.start([service], { address });
    const client = first.channel().clientOf(MaintenanceServiceService);
    const call = () => client.purgeExpired({ limit: 1 }, CALL);
    await call();

    first.server.forceShutdown();
    expect((await refusalOf(call())).code).toBe(ErrorCode.UNAVAILABLE);
    await rigs.start([service], { address });
    await eventually('an answer of the server that came back', () => call().catch(() => undefined));
  });

  test('looks for a server that is away again and again in short steps, not after seconds as grpc does', async () => {
    const ours = await closing();
    const another = await closing();
    const { purgeExpired } = rigs.channelTo(ours.address).clientOf(MaintenanceServiceService);
    const asGrpcDoes = new Client(another.address, credentials.createInsecure());
    try {
      // With equal steps, it would come as often.
      await eventually('five attempts more than those of grpc', async () => {
        asGrpcDoes.getChannel().getConnectivityState(true);
        await refusalOf(purgeExpired({ limit: 1 }, { requestId: 'r', deadlineMs: 1_000 }));
        return another.attempts() > 0 && ours.attempts() >= another.attempts() + 5;
      });
    } finally {
      asGrpcDoes.close();
      ours.close();
      another.close();
    }
  });

  test('under way when the server is killed is UNAVAILABLE, not an error of ours', async () => {
    const { call, server } = await serving(async (_, context) => {
      server.forceShutdown();
      await aborted(context);
      return ANSWER;
    });
    expect((await refusalOf(call({ limit: 1 }, CALL))).code).toBe(ErrorCode.UNAVAILABLE);
  });
});
