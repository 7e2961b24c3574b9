import { join } from 'node:path';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { afterEach, describe, expect, test } from '@jest/globals';
import { CallServiceService } from '../../../generated/proto/integration/calls/v1/calls.js';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import type { Authenticate } from '../../../src/rpc/callers.js';
import { closeRpcServer } from '../../../src/rpc/server.js';
import { StreamedCalls } from '../../../src/rpc/short-calls/streamed-calls.js';
import { eventually } from '../../support/eventually.js';
import { signalled } from '../../support/signalled.js';
import { type RigOptions, type RpcRig, refusalOf, rpcRigs, TOKENS } from '../rig.js';
import { CuttingProxy } from './cutting-proxy.js';
import { type Answering, textService, textsAnsweredBy } from './text-service.js';

const OPTIONS = { requestId: 'r', deadlineMs: 20_000 };
const EXCHANGE = CallServiceService.exchange.path.slice(1);
/** Of a channel, and of a stream at the server. */
const MOST_CALLS = 1_024;
const KIB = 1_024;

const never = () => new Promise<string>(() => undefined);
const aborted = (signal: AbortSignal) =>
  new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));

describe('calls of a role', () => {
  const rigs = rpcRigs();
  const proxies: CuttingProxy[] = [];
  const clients: Client[] = [];
  afterEach(() => {
    for (const one of [...proxies.splice(0), ...clients.splice(0)]) {
      one.close();
    }
  });

  async function serving(ask: Answering, options: RigOptions = {}, change = ask) {
    const rig = await rigs.start([textsAnsweredBy(ask, change)], options);
    return { ...rig, ...callsOf(rig) };
  }

  function callsOf(rig: Pick<RpcRig, 'channel'>, token = TOKENS.edge) {
    const channel = rig.channel(token);
    const client = channel.clientOf(textService);
    return {
      ask: (text: string, options = {}) => client.ask(text, { ...OPTIONS, ...options }),
      change: (text: string, options = {}) => client.change(text, { ...OPTIONS, ...options }),
      leave: () => channel.close(),
    };
  }

  /** Calls through a proxy that can cut their connection. */
  async function behindProxy(ask: Answering, change = ask) {
    const rig = await rigs.start([textsAnsweredBy(ask, change)]);
    const path = join(rigs.directory(), 'p');
    const proxy = await CuttingProxy.start(path, rig.address);
    proxies.push(proxy);
    return { ...rig, ...callsOf({ channel: (token) => rigs.channelTo(`unix:${path}`, token) }), proxy };
  }

  test.each([
    ['a socket', undefined],
    ['TCP', '127.0.0.1:0'],
  ])('are answered in any order over %s, each with its own answer, in one stream', async (_, address) => {
    const held = signalled<string>();
    const { ask, leave, timed } = await serving((text) => (text === 'first' ? held.told : `${text}!`), {
      address,
    });
    const first = ask('first');
    const others = Array.from({ length: 500 }, (_, index) => `${index}`);
    expect(await Promise.all(others.map((text) => ask(text)))).toEqual(others.map((text) => `${text}!`));
    held.tell('at last');
    expect(await first).toBe('at last');
    leave();
    await eventually('the stream ends', () => timed.length > 501);
    expect(timed.filter(({ method }) => method === EXCHANGE)).toHaveLength(1);
    expect(timed).toHaveLength(502);
  });

  test('bring an empty message and an empty answer', async () => {
    const { ask } = await serving((text) => text);
    expect(await ask('')).toBe('');
  });

  test('tell the handler for whom they are made, and are refused where that is no id', async () => {
    const { ask } = await serving((_, { onBehalfOf, requestId }) => `${requestId} for ${onBehalfOf}`);
    expect(await ask('', { onBehalfOf: 'acc_1' })).toBe('r for acc_1');
    for (const onBehalfOf of ['two words', '', 'x'.repeat(5_000)]) {
      const refusal = await refusalOf(ask('', { onBehalfOf }));
      expect([refusal.code, refusal.fieldViolations[0]?.path]).toEqual([
        ErrorCode.INVALID_REQUEST,
        'x-on-behalf-of',
      ]);
    }
    const long = { requestId: '€'.repeat(5_000) };
    for (const text of await Promise.all(Array.from({ length: 500 }, () => ask('', long)))) {
      expect(text).toMatch(/^[0-9a-f-]{36} for undefined$/);
    }
  });

  test('are refused one by one where a message or an answer is too large, and the others go on', async () => {
    const held = signalled<string>();
    const { ask, lines } = await serving((text) => {
      if (text === 'held') {
        return held.told;
      }
      return text.startsWith('make') ? 'x'.repeat(Number(text.slice(5))) : `${text.length}`;
    });
    const other = ask('held');
    expect(await ask('x'.repeat(256 * KIB))).toBe(`${256 * KIB}`);
    const refusal = await refusalOf(ask('x'.repeat(256 * KIB + 1)));
    expect([refusal.code, refusal.message]).toEqual([
      ErrorCode.INVALID_REQUEST,
      'The request is larger than 256 KiB.',
    ]);
    expect(await ask(`make ${16 * KIB * KIB}`)).toHaveLength(16 * KIB * KIB);
    expect((await refusalOf(ask(`make ${16 * KIB * KIB + 1}`))).code).toBe(ErrorCode.INTERNAL_ERROR);
    expect(lines.find(({ level }) => level === 'error')?.internal).toContain('16777217 bytes');
    held.tell('unharmed');
    expect(await other).toBe('unharmed');
  });

  test('are refused at once when too many are under way, and taken again when some have ended', async () => {
    const held = signalled<string>();
    const { ask } = await serving(() => held.told);
    const calls = Array.from({ length: MOST_CALLS }, () => ask(''));
    const refusal = await refusalOf(ask(''));
    expect([refusal.code, refusal.retryAfterSeconds]).toEqual([ErrorCode.UNAVAILABLE, 1]);
    expect(refusal.internal).toBe('1024 calls are under way');
    held.tell('answered');
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['answered']));
    expect(await ask('')).toBe('answered');
  });

  test('end alone when cancelled or late: the handler hears of it, and others in the stream do not', async () => {
    const reached = signalled<AbortSignal>();
    const held = signalled<string>();
    let other: AbortSignal | undefined;
    const { ask, timed } = await serving((text, { signal }) => {
      if (text === 'other') {
        other = signal;
        return held.told;
      }
      reached.tell(signal);
      return aborted(signal).then(() => 'too late');
    });
    const wanted = ask('other');
    const cancel = new AbortController();
    const outcome = ask('unwanted', { signal: cancel.signal }).catch((error: unknown) => error);
    const signal = await reached.told;
    const heard = aborted(signal);
    cancel.abort('no more');
    expect(await outcome).toBe('no more');
    await heard;
    const refusal = await refusalOf(ask('late', { deadlineMs: 50 }));
    expect([refusal.code, refusal.internal]).toEqual([
      ErrorCode.UNAVAILABLE,
      'DEADLINE_EXCEEDED: no answer came in time',
    ]);
    expect(other?.aborted).toBe(false);
    held.tell('wanted');
    expect(await wanted).toBe('wanted');
    await eventually('all are told of', () => timed.length === 3);
    expect(timed.map(({ code }) => code).sort()).toEqual(['CANCELLED', 'CANCELLED', 'OK']);
  });

  test('that are aborted before they are sent never reach the server', async () => {
    const seen: string[] = [];
    const { ask } = await serving((text) => {
      seen.push(text);
      return text;
    });
    const cancel = new AbortController();
    const outcome = ask('unsent', { signal: cancel.signal }).catch((error: unknown) => error);
    cancel.abort('no more');
    expect(await outcome).toBe('no more');
    await ask('sent');
    expect(seen).toEqual(['sent']);
  });

  test('wait at the caller while 256 are at the server, cancelled ones included until they have ended', async () => {
    const begun: string[] = [];
    const held = signalled<string>();
    const { ask } = await serving((text, { signal }) => {
      begun.push(text);
      return text === 'deaf' ? held.told : aborted(signal).then(() => 'aborted');
    });
    const cancel = new AbortController();
    const deaf = new AbortController();
    const makes = (count: number, text: string, { signal }: AbortController) =>
      Array.from({ length: count }, () => ask(text, { signal }).catch(() => 'failed'));
    const first = [...makes(6, 'deaf', deaf), ...makes(250, 'hears', cancel)];
    await eventually('256 are begun', () => begun.length === 256);
    const later = makes(100, 'later', cancel);
    deaf.abort();
    await Promise.all(first.slice(0, 6));
    // In order behind the cancels, and answered.
    expect(begun).not.toContain('later');

    const last = ask('last', { deadlineMs: 20_000 }).catch(() => 'failed');
    cancel.abort();
    await Promise.all([...first, ...later]);
    await eventually('the one that waited is begun', () => begun.includes('last'));
    expect(begun).not.toContain('later');
    held.tell('over');
    void last;
  });

  test('get what their own method refuses, though the stream is open to the caller', async () => {
    let handled = 0;
    const { channel } = await serving(() => {
      handled += 1;
      return '';
    });
    const relay = callsOf({ channel }, TOKENS.relay);
    expect((await refusalOf(relay.ask(''))).code).toBe(ErrorCode.CALLER_NOT_ALLOWED);
    const operator = callsOf({ channel }, TOKENS.operator);
    expect((await refusalOf(operator.ask(''))).code).toBe(ErrorCode.CALLER_NOT_ALLOWED);
    expect(handled).toBe(0);
  });

  test('under way get the refusal when their token is revoked, and no later one is handled', async () => {
    let isGood = true;
    const authenticate: Authenticate = async () => {
      if (!isGood) {
        throw new ServiceError(ErrorCode.SERVICE_TOKEN_INVALID, 'It was revoked.');
      }
      return { caller: 'edge' };
    };
    const reached = signalled<AbortSignal>();
    const { ask, timed } = await serving(
      (text, { signal }) => {
        if (text !== 'held') {
          return 'handled';
        }
        reached.tell(signal);
        return never();
      },
      { authenticate, limits: { recheckTokensMs: 20 } },
    );
    const held = refusalOf(ask('held'));
    const signal = await reached.told;
    expect(await ask('before')).toBe('handled');
    isGood = false;
    expect([(await held).code, (await held).message]).toEqual([
      ErrorCode.SERVICE_TOKEN_INVALID,
      'It was revoked.',
    ]);
    expect((await refusalOf(ask('after'))).code).toBe(ErrorCode.SERVICE_TOKEN_INVALID);
    await eventually('the handler hears of it', () => signal.aborted);
    expect(timed.filter(({ code }) => code === 'OK')).toHaveLength(1);
  });

  test('lose the rights that their token loses', async () => {
    let caller: 'edge' | 'relay' = 'edge';
    let looks = 0;
    const authenticate: Authenticate = async () => {
      looks += 1;
      return { caller };
    };
    const { ask } = await serving(() => 'handled', { authenticate, limits: { recheckTokensMs: 20 } });
    expect(await ask('')).toBe('handled');
    caller = 'relay';
    const before = looks;
    await eventually('the token is looked at', () => looks > before + 1);
    expect((await refusalOf(ask(''))).code).toBe(ErrorCode.CALLER_NOT_ALLOWED);
  });

  test('under way are finished by a server that drains, and new ones go to the next at its address', async () => {
    const address = `unix:${rigs.directory()}/s`;
    const held = signalled<string>();
    const reached = signalled();
    const first = await serving(
      (text) => {
        if (text !== 'held') {
          return 'first';
        }
        reached.tell();
        return held.told;
      },
      { address },
    );
    const underWay = first.change('held');
    await reached.told;
    let isClosed = false;
    const closing = closeRpcServer(first.server, 20_000).then(() => {
      isClosed = true;
    });
    await serving(() => 'second', { address });
    await eventually('the next one answers', async () => (await first.change('new')) === 'second');
    expect(isClosed).toBe(false);
    held.tell('finished');
    expect(await underWay).toBe('finished');
    await closing;
  });

  test('are all answered, by the one or the next, while servers drain one after the other', async () => {
    const address = `unix:${rigs.directory()}/s`;
    let current = await serving((text) => text, { address });
    const { change } = current;
    let isOver = false;
    const texts: string[] = [];
    const failures: unknown[] = [];
    const calling = Promise.all(
      Array.from({ length: 8 }, async (_, caller) => {
        for (let index = 0; !isOver; index += 1) {
          const text = `${caller} ${index}`;
          try {
            expect(await change(text)).toBe(text);
            texts.push(text);
          } catch (error) {
            failures.push(error);
          }
          await new Promise(setImmediate);
        }
      }),
    );
    for (let round = 0; round < 3; round += 1) {
      const before = texts.length;
      await eventually('calls are answered', () => texts.length > before + 100);
      await closeRpcServer(current.server, 20_000);
      current = await serving((text) => text, { address });
    }
    isOver = true;
    await calling;
    // Between one server and the next there is none; what had reached one was answered.
    for (const failure of failures) {
      expect((failure as ServiceError).internal).toMatch(
        /No connection established|connect ENOENT|going away/,
      );
    }
  });

  test('that are safe to repeat are asked again when their stream breaks, and others fail as UNAVAILABLE', async () => {
    const begun: string[] = [];
    const reached = signalled();
    const { ask, change, proxy } = await behindProxy((text) => {
      begun.push(text);
      if (begun.length === 2) {
        reached.tell();
      }
      return begun.filter((one) => one === text).length === 2 ? `${text} again` : never();
    });
    const asked = ask('read');
    const changed = refusalOf(change('write'));
    await reached.told;
    proxy.cut();
    const refusal = await changed;
    expect([refusal.code, refusal.retryAfterSeconds]).toEqual([ErrorCode.UNAVAILABLE, 1]);
    expect(await asked).toBe('read again');
    expect(begun).toEqual(['read', 'write', 'read']);
    expect(proxy.connections).toBe(2);
  });

  test('are repeated once, however often streams break', async () => {
    let begun = 0;
    const { ask, proxy } = await behindProxy(() => {
      begun += 1;
      return never();
    });
    const asked = refusalOf(ask('read'));
    await eventually('it has begun', () => begun === 1);
    proxy.cut();
    await eventually('it has begun again', () => begun === 2);
    proxy.cut();
    expect((await asked).code).toBe(ErrorCode.UNAVAILABLE);
    expect(begun).toBe(2);
  });

  test('fail when their channel is closed, and those after it', async () => {
    const reached = signalled<AbortSignal>();
    const { ask, leave } = await serving((_, { signal }) => {
      reached.tell(signal);
      return never();
    });
    const underWay = refusalOf(ask('read'));
    const signal = await reached.told;
    leave();
    expect((await underWay).internal).toBe('the channel was closed');
    expect((await refusalOf(ask('read'))).internal).toBe('the channel was closed');
    await eventually('the handler hears of it', () => signal.aborted);
  });

  test('go on in another stream when the ids of one are used up', async () => {
    const { address, timed } = await serving((text) => `${text}!`);
    const client = new Client(address, credentials.createInsecure());
    clients.push(client);
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${TOKENS.edge}`);
    const { path, requestSerialize, responseDeserialize } = CallServiceService.exchange;
    const calls = new StreamedCalls(
      () => client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata),
      3,
    );
    const texts = Array.from({ length: 10 }, (_, index) => `${index}`);
    const answers = texts.map((text) => calls.call(textService.ask, text, OPTIONS, 20_000));
    expect(await Promise.all(answers)).toEqual(texts.map((text) => `${text}!`));
    const ended = () => timed.filter(({ method }) => method === EXCHANGE);
    await eventually('the used ones end', () => ended().length === 3);
    expect(ended().map(({ code }) => code)).toEqual(['OK', 'OK', 'OK']);
    calls.close();
  });
});
