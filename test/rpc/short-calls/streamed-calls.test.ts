import { setMaxListeners } from 'node:events';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { CallerLeft, ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import type { Authenticate } from '../../../src/rpc/callers.js';
import { eventually } from '../../support/eventually.js';
import { fakeTimeouts } from '../../support/fake-timeouts.js';
import { signalled } from '../../support/signalled.js';
import { refusalOf, TOKENS } from '../rig.js';
import { aborted, EXCHANGE, KIB, MOST_CALLS, never, roleCalls } from './role-calls.js';

const DEADLINE_MS = 20_000;

describe('calls of a role', () => {
  const { serving, callsOf, behindProxy } = roleCalls();
  afterEach(() => {
    jest.useRealTimers();
  });

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

  test('pass their on-behalf-of to the handler, and are refused if it is no id', async () => {
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

  test('name their peer and their on-behalf-of in the log, but no text that is no id', async () => {
    const { ask, lines } = await serving((text) => text, { address: '127.0.0.1:0' });
    await ask('', { onBehalfOf: 'acc_1' });
    await refusalOf(ask('', { onBehalfOf: 'two words' }));
    const ended = lines.filter(({ message }) => message === 'call');
    const peer = expect.stringMatching(/^127\.0\.0\.1:\d+$/);
    expect(ended).toMatchObject([
      { caller: 'edge', peer, onBehalfOf: 'acc_1' },
      { caller: 'edge', peer, onBehalfOf: undefined },
    ]);
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

  test('whose refusal cannot be encoded fail alone, with a line in the log', async () => {
    const { ask, lines, timed } = await serving((text) => {
      if (text === 'late') {
        throw new ServiceError(ErrorCode.RATE_LIMITED, 'Slow down.', { retryAfterSeconds: -480 });
      }
      return `${text}!`;
    });
    const [refusal, answer] = await Promise.all([refusalOf(ask('late')), ask('well')]);
    expect([refusal.code, answer]).toEqual([ErrorCode.INTERNAL_ERROR, 'well!']);
    expect(await ask('later')).toBe('later!');
    expect(timed.map(({ code }) => code).sort()).toEqual(['INTERNAL', 'OK', 'OK']);
    expect(lines.find(({ level }) => level === 'error')).toMatchObject({
      internal: 'Error: invalid uint32: -480, in ERROR_CODE_RATE_LIMITED: Slow down.',
    });
  });

  test('get a megabyte of a large answer before the network has brought back any word of the first bytes', async () => {
    const [reached, made] = [signalled(), signalled<string>()];
    const { ask, proxy } = await behindProxy(() => {
      reached.tell();
      return made.told;
    });
    const answer = ask('');
    await reached.told;
    proxy.holdCallers();
    made.tell('x'.repeat(4 * KIB * KIB));
    await eventually('a megabyte on its way', () => proxy.answeredBytes > KIB * KIB);
    proxy.release();
    expect(await answer).toHaveLength(4 * KIB * KIB);
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

  test('end alone when cancelled or late: their handler is aborted, and other calls of the stream continue', async () => {
    const [reached, late] = [signalled<AbortSignal>(), signalled<AbortSignal>()];
    const held = signalled<string>();
    let other: AbortSignal | undefined;
    const { ask, timed, lines } = await serving((text, { signal }) => {
      if (text === 'other') {
        other = signal;
        return held.told;
      }
      (text === 'late' ? late : reached).tell(signal);
      return aborted(signal).then(() => {
        if (text === 'unwanted') {
          throw new CallerLeft();
        }
        return 'too late';
      });
    });
    const wanted = ask('other');
    const cancel = new AbortController();
    const outcome = ask('unwanted', { signal: cancel.signal }).catch((error: unknown) => error);
    const signal = await reached.told;
    const heard = aborted(signal);
    cancel.abort('no more');
    expect(await outcome).toBe('no more');
    await heard;
    fakeTimeouts();
    const refused = refusalOf(ask('late', { deadlineMs: DEADLINE_MS }));
    await late.told;
    jest.advanceTimersByTime(DEADLINE_MS);
    const refusal = await refused;
    expect([refusal.code, refusal.internal]).toEqual([
      ErrorCode.UNAVAILABLE,
      'DEADLINE_EXCEEDED: no answer came in time',
    ]);
    expect(other?.aborted).toBe(false);
    held.tell('wanted');
    expect(await wanted).toBe('wanted');
    await eventually('all are told of', () => timed.length === 3);
    expect(timed.map(({ code }) => code).sort()).toEqual(['CANCELLED', 'CANCELLED', 'OK']);
    expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
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
    setMaxListeners(0, cancel.signal);
    const makes = (count: number, text: string, { signal }: AbortController) =>
      Array.from({ length: count }, () => ask(text, { signal }).catch(() => 'failed'));
    const first = [...makes(6, 'deaf', deaf), ...makes(250, 'hears', cancel)];
    await eventually('256 are begun', () => begun.length === 256);
    const later = makes(100, 'later', cancel);
    deaf.abort();
    await Promise.all(first.slice(0, 6));
    // In order behind the cancels, and answered.
    expect(begun).not.toContain('later');

    const last = ask('last').catch(() => 'failed');
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
});
