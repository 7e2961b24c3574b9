import { EventEmitter, getEventListeners } from 'node:events';
import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import {
  DeliveryServiceService,
  type KeepClaimingDeliveriesRequest,
  type KeepClaimingDeliveriesResponse,
} from '../../generated/proto/integration/webhooks/v1/sending.js';
import { ErrorCode, ServiceError } from '../../src/errors/service-error.js';
import { type CallContext, type Handler, serve } from '../../src/rpc/handlers.js';
import { closeRpcServer } from '../../src/rpc/server.js';
import { Conversation, type QuestionOptions } from '../../src/rpc/streams/conversation.js';
import { eventually } from '../support/eventually.js';
import { signalled } from '../support/signalled.js';
import { type RpcRig, refusalOf, rpcRigs, TOKENS } from './rig.js';

const { keepClaimingDeliveries: method } = DeliveryServiceService;
type Keep = Handler<typeof method>;
/** What a handler does with one question of a call. */
type Answering = (text: string, context: CallContext) => string | Promise<string>;

const PATIENT_MS = 20_000;
const QUIET_MS = 1_000;
const LONGEST_CALL_MS = 45_000;
const REASON = new Error('the answer is no longer wanted');

const REST = { freeSlots: 1, totalSlots: 1, maxRunningPerSubscription: 1, maxWaitMs: 0 };
const question = (text: string): KeepClaimingDeliveriesRequest => ({ claim: { ...REST, workerId: text } });
const answer = (text: string): KeepClaimingDeliveriesResponse => ({
  claim: {
    deliveries: [],
    targets: [],
    bodies: [{ eventId: text, eventType: '', body: Buffer.alloc(0) }],
  },
});

describe('a conversation', () => {
  const rigs = rpcRigs();
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  /** A conversation with a server on which each call is handled so. */
  async function talkingTo(handler: Keep, address?: string) {
    const served = { calls: 0, ended: 0 };
    const counted: Keep = async function* (requests, context) {
      served.calls += 1;
      try {
        yield* handler(requests, context);
      } finally {
        served.ended += 1;
      }
    };
    const rig = await rigs.start(
      [serve(DeliveryServiceService, { keepClaimingDeliveries: counted })],
      address === undefined ? {} : { address },
    );
    return { ...rig, served, ask: asking(rig) };
  }

  function asking(rig: RpcRig, token?: string) {
    const conversation = rig.channel(token).conversation(method);
    return async (text: string, options: Partial<QuestionOptions> = {}) => {
      const { claim } = await conversation.ask(question(text), { deadlineMs: PATIENT_MS, ...options });
      return claim?.bodies[0]?.eventId;
    };
  }

  /** Answers each question by what is made of it. */
  const answering = (make: Answering): Keep =>
    async function* (requests, context) {
      for await (const { claim } of requests) {
        yield answer(await make(claim?.workerId ?? '', context));
      }
    };
  const echo = answering((text) => `${text}!`);

  test('asks many questions in one call, and each gets its own answer', async () => {
    const { ask, served, lines } = await talkingTo(echo);
    for (let index = 0; index < 100; index += 1) {
      expect(await ask(`${index}`)).toBe(`${index}!`);
    }
    expect(served).toEqual({ calls: 1, ended: 0 });
    // A call is one line of the log, written when it ends.
    expect(lines).toEqual([]);
  });

  test('refuses a question before the last one is answered, which is answered all the same', async () => {
    const { ask, served } = await talkingTo(echo);
    const first = ask('first');
    await expect(ask('second')).rejects.toThrow('before the one before it was answered');
    expect(await first).toBe('first!');
    expect(await ask('third')).toBe('third!');
    expect(served).toEqual({ calls: 1, ended: 0 });
  });

  test('shows its token', async () => {
    const rig = await talkingTo(echo);
    const refusal = await refusalOf(asking(rig, 'another token')('first'));
    expect(refusal.code).toBe(ErrorCode.SERVICE_TOKEN_INVALID);
    expect((await refusalOf(asking(rig, TOKENS.operator)('first'))).code).toBe(ErrorCode.CALLER_NOT_ALLOWED);
    expect(rig.served.calls).toBe(0);
  });

  test('fails with what the server refused with, and asks the next question in a new call', async () => {
    const { ask, served, lines } = await talkingTo(
      answering((text) => {
        if (text === 'bad') {
          throw new ServiceError(ErrorCode.INVALID_REQUEST, 'No such thing.', {
            fieldViolations: [{ path: 'worker_id', message: 'must be good' }],
          });
        }
        return `${text}!`;
      }),
    );
    await ask('good');
    const refusal = await refusalOf(ask('bad'));
    expect(refusal).toMatchObject({
      code: ErrorCode.INVALID_REQUEST,
      message: 'No such thing.',
      fieldViolations: [{ path: 'worker_id', message: 'must be good' }],
    });
    expect(await ask('better')).toBe('better!');
    expect(served).toEqual({ calls: 2, ended: 1 });
    expect(lines).toMatchObject([{ code: 'INVALID_ARGUMENT' }]);
  });

  test('fails as UNAVAILABLE when no answer comes in time, and the handler is notified', async () => {
    const heard = signalled<string>();
    const { ask, served } = await talkingTo(
      answering((text, { signal }) => {
        if (text === 'quick') {
          return 'at once';
        }
        signal.addEventListener('abort', () => heard.tell(text));
        return new Promise(() => undefined);
      }),
    );
    await ask('quick');
    const startedAt = performance.now();
    const refusal = await refusalOf(ask('slow', { deadlineMs: 200 }));
    const tookMs = performance.now() - startedAt;
    expect(refusal.code).toBe(ErrorCode.UNAVAILABLE);
    expect(refusal.internal).toContain('DEADLINE_EXCEEDED');
    expect(tookMs).toBeGreaterThan(190);
    expect(tookMs).toBeLessThan(2_000);
    expect(await heard.told).toBe('slow');
    expect(await ask('quick')).toBe('at once');
    expect(served.calls).toBe(2);
  });

  test('fails with the reason when its signal is aborted, and the handler is notified', async () => {
    const reached = signalled();
    const heard = signalled();
    const { ask, served } = await talkingTo(
      answering((text, { signal }) => {
        if (text === 'wanted') {
          return 'given';
        }
        signal.addEventListener('abort', () => heard.tell());
        reached.tell();
        return new Promise(() => undefined);
      }),
    );
    const cancel = new AbortController();
    const outcome = ask('unwanted', { signal: cancel.signal }).catch((error: unknown) => error);
    await reached.told;
    cancel.abort(REASON);
    expect(await outcome).toBe(REASON);
    await heard.told;
    expect(await ask('wanted')).toBe('given');
    expect(served.calls).toBe(2);
  });

  test('asks nothing where the signal was aborted before', async () => {
    const asked: string[] = [];
    const { ask, served } = await talkingTo(
      answering((text) => {
        asked.push(text);
        return text;
      }),
    );
    await expect(ask('first', { signal: AbortSignal.abort(REASON) })).rejects.toBe(REASON);
    await ask('second');
    await expect(ask('third', { signal: AbortSignal.abort(REASON) })).rejects.toBe(REASON);
    await ask('fourth');
    expect(asked).toEqual(['second', 'fourth']);
    expect(served.calls).toBe(1);
  });

  test('lets go of the signal of what is answered, which can be aborted without harm', async () => {
    const { ask, served } = await talkingTo(echo);
    const cancel = new AbortController();
    for (const text of ['first', 'second']) {
      await ask(text, { signal: cancel.signal });
    }
    expect(getEventListeners(cancel.signal, 'abort')).toEqual([]);
    cancel.abort();
    expect(await ask('third')).toBe('third!');
    expect(served).toEqual({ calls: 1, ended: 0 });
  });

  test('fails as UNAVAILABLE when the server ends the call without an answer, and continues', async () => {
    const { ask, served } = await talkingTo(async function* (requests) {
      for await (const { claim } of requests) {
        if (claim?.workerId === 'last') {
          return;
        }
        yield answer(`${claim?.workerId}!`);
      }
    });
    await ask('first');
    expect((await refusalOf(ask('last'))).code).toBe(ErrorCode.UNAVAILABLE);
    expect(await ask('next')).toBe('next!');
    expect(served.calls).toBe(2);
  });

  test('fails as UNAVAILABLE when the server is cut off, and finds the next one at its address', async () => {
    const reached = signalled();
    const before = await talkingTo(
      answering((text) => {
        if (text === 'first') {
          return text;
        }
        reached.tell();
        return new Promise(() => undefined);
      }),
    );
    const { ask } = before;
    await ask('first');
    const cut = refusalOf(ask('second'));
    await reached.told;
    before.server.forceShutdown();
    expect((await cut).code).toBe(ErrorCode.UNAVAILABLE);
    expect((await refusalOf(ask('third', { deadlineMs: 500 }))).code).toBe(ErrorCode.UNAVAILABLE);

    const { served } = await talkingTo(echo, before.address);
    // It tries to connect again within a second.
    expect(await eventually('it is found', () => ask('fourth').catch(() => undefined))).toBe('fourth!');
    expect(served.calls).toBe(1);
  });

  test('takes nothing that comes late in a call for an answer to the question of the next', async () => {
    const calls: EventEmitter[] = [];
    const ignore = () => undefined;
    const conversation = new Conversation<string, string>(() => {
      const call = Object.assign(new EventEmitter(), { write: ignore, end: ignore, cancel: ignore });
      calls.push(call);
      return call as never;
    });
    const cancel = new AbortController();
    const first = conversation.ask('first', { deadlineMs: PATIENT_MS, signal: cancel.signal });
    cancel.abort(REASON);
    await expect(first).rejects.toBe(REASON);
    const second = conversation.ask('second', { deadlineMs: PATIENT_MS });
    calls[0]?.emit('data', 'too late');
    calls[0]?.emit('error', { code: status.CANCELLED, details: 'cancelled' });
    calls[0]?.emit('end');
    calls[1]?.emit('data', 'in time');
    expect(await second).toBe('in time');
    expect(calls).toHaveLength(2);
  });

  test('that is quiet ends by itself, so that a server that ends need not wait for its grace', async () => {
    const { ask, server, served, timed } = await talkingTo(echo);
    await ask('only');
    const startedAt = performance.now();
    await closeRpcServer(server, 15_000);
    expect(performance.now() - startedAt).toBeLessThan(QUIET_MS + 3_000);
    expect(served).toEqual({ calls: 1, ended: 1 });
    expect(timed).toMatchObject([{ code: 'OK' }]);
  });

  describe('with the time in hand', () => {
    const takeTimers = () =>
      jest.useFakeTimers({
        doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance', 'Date'],
      });

    test('is not quiet while a question follows another, and can be talked to again afterwards', async () => {
      const { ask, served } = await talkingTo(echo);
      takeTimers();
      for (let index = 0; index < 5; index += 1) {
        await ask(`${index}`);
        await jest.advanceTimersByTimeAsync(QUIET_MS - 1);
      }
      expect(served).toEqual({ calls: 1, ended: 0 });
      await jest.advanceTimersByTimeAsync(1);
      await eventually('its call ends', () => served.ended === 1);
      expect(await ask('again')).toBe('again!');
      expect(served.calls).toBe(2);
    });

    test('is not quiet while a question waits for its answer, but is some time after it', async () => {
      const reached = signalled();
      const held = signalled<string>();
      const { ask, served } = await talkingTo(
        answering((text) => {
          if (text !== 'long') {
            return text;
          }
          reached.tell();
          return held.told;
        }),
      );
      takeTimers();
      await ask('first', { deadlineMs: QUIET_MS });
      const long = ask('long');
      await reached.told;
      await jest.advanceTimersByTimeAsync(QUIET_MS * 10);
      held.tell('at last');
      expect(await long).toBe('at last');
      await jest.advanceTimersByTimeAsync(QUIET_MS - 1);
      await ask('short');
      expect(served).toEqual({ calls: 1, ended: 0 });
      await jest.advanceTimersByTimeAsync(QUIET_MS);
      await eventually('its call ends', () => served.ended === 1);
    });

    test('is held in a new call within a minute, so that its token is looked at again', async () => {
      const { ask, served, timed } = await talkingTo(echo);
      // Nothing ends for being quiet.
      takeTimers();
      await ask('first');
      const now = performance.now();
      const time = jest.spyOn(performance, 'now').mockReturnValue(now + LONGEST_CALL_MS - 1_000);
      await ask('second');
      await ask('third');
      expect(served).toEqual({ calls: 1, ended: 0 });
      time.mockReturnValue(now + LONGEST_CALL_MS + 1);
      expect(await ask('fourth')).toBe('fourth!');
      await eventually('the old call ends', () => timed.length === 1);
      expect(timed).toMatchObject([{ code: 'OK' }]);
      await ask('fifth');
      await ask('sixth');
      expect(served).toEqual({ calls: 2, ended: 1 });
    });
  });
});
