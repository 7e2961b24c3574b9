import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { type Client, connectivityState, Metadata } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Member } from '../../../src/rpc/members/member.js';
import type { Exchange } from '../../../src/rpc/short-calls/call-stream.js';
import { StreamedCalls } from '../../../src/rpc/short-calls/streamed-calls.js';
import { textService } from '../short-calls/text-service.js';

const SILENT_AFTER_TURNS = 5;
/** Longer than one that has fallen silent counts as late. */
const MANY_TURNS = 30;

/** Of a call or a stream that the test answers. */
class Held extends EventEmitter {
  cancel(): void {}
  write(): void {}
  end(): void {}
}

describe('the rank of a server', () => {
  let member: Member;
  let stream: Held;
  let questions: ((failure: Error | null, answer?: { status: string }) => void)[];

  beforeEach(() => {
    questions = [];
    stream = new Held();
    const client = {
      makeUnaryRequest: (...args: unknown[]) => {
        questions.push(args.at(-1) as (typeof questions)[number]);
        return new Held();
      },
      getChannel: () => ({ getConnectivityState: () => connectivityState.READY }),
      close: () => undefined,
    };
    const calls = new StreamedCalls(() => member.shortCalls);
    member = new Member({
      address: 'one:1',
      connect: () => client as unknown as Client,
      exchange: () => stream as unknown as Exchange,
      metadata: () => new Metadata(),
      calls,
      onChange: () => undefined,
    });
    calls.call(textService.change, 'text', { requestId: 'r' }, 1_000_000).catch(() => undefined);
  });

  afterEach(() => member.close());

  function turns(count: number): void {
    for (let turn = 0; turn < count; turn += 1) {
      member.turn();
    }
  }

  /** Answers the latest question; the member has asked it by the second turn. */
  async function says(status: string): Promise<number> {
    questions.at(-1)?.(null, { status });
    await setImmediate();
    return member.rank;
  }

  async function fallsSilent(after: string): Promise<void> {
    turns(2);
    await says(after);
    turns(2 + SILENT_AFTER_TURNS);
    expect(member.state).toBe('unreachable');
  }

  /** What each state has, in order. */
  async function ranks() {
    const unreachable = member.rank;
    turns(2);
    const serving = await says('SERVING');
    turns(2);
    return { unreachable, serving, notServing: await says('NOT_SERVING') };
  }

  test.each(['SERVING', 'NOT_SERVING'])('that falls silent after it said %s', async (said) => {
    const known = await ranks();
    expect(known.serving).toBeLessThan(known.notServing);
    expect(known.notServing).toBeLessThan(known.unreachable);
    await fallsSilent(said);
    const late = member.rank;
    if (said === 'SERVING') {
      expect(late).toBeGreaterThan(known.serving);
      expect(late).toBeLessThan(known.notServing);
    } else {
      expect(late).toBe(known.unreachable);
    }
    turns(SILENT_AFTER_TURNS);
    expect(member.rank).toBe(late);
    turns(MANY_TURNS);
    expect(member.rank).toBe(known.unreachable);
    expect(await says('SERVING')).toBe(known.serving);
  });

  test('that answers late is that of its answer', async () => {
    const known = await ranks();
    await fallsSilent('SERVING');
    expect(await says('SERVING')).toBe(known.serving);
    turns(2);
    expect(await says('NOT_SERVING')).toBe(known.notServing);
    await fallsSilent('SERVING');
    expect(await says('NOT_SERVING')).toBe(known.notServing);
  });

  test('that was late, after its calls were ended', async () => {
    const known = await ranks();
    await fallsSilent('SERVING');
    member.break();
    expect(member.rank).toBe(known.unreachable);
  });

  test('that announces its shutdown or is lost while it is late', async () => {
    const known = await ranks();
    await fallsSilent('SERVING');
    stream.emit('data', { answers: [], failures: [], endedIds: [], goingAway: true });
    expect(member.rank).toBe(known.notServing);
    await fallsSilent('SERVING');
    stream.emit(
      'error',
      Object.assign(new Error('cut'), { code: 14, details: 'cut', metadata: new Metadata() }),
    );
    expect(member.rank).toBe(known.unreachable);
  });
});
