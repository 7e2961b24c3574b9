import { EventEmitter } from 'node:events';
import { type Client, connectivityState, Metadata } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Member } from '../../../src/rpc/members/member.js';
import { Members } from '../../../src/rpc/members/members.js';
import type { Exchange } from '../../../src/rpc/short-calls/call-stream.js';
import { StreamedCalls } from '../../../src/rpc/short-calls/streamed-calls.js';

const TURN_MS = 250;
const SILENT_TURNS = 12;

/** A call or a stream that gets no answer. */
class Held extends EventEmitter {
  cancel(): void {}
  write(): void {}
  end(): void {}
}

type Answer = (failure: Error | null, answer?: { status: string }) => void;

let members: Members;
let made: Member[];
/** By server, the health check that it has not answered. */
let asked: Map<string, Answer>;
let broken: string[];

beforeEach(() => {
  jest.useFakeTimers();
  [made, asked, broken] = [[], new Map(), []];
  members = new Members('one:1,two:1', ({ address }) => {
    const client = {
      makeUnaryRequest: (...args: unknown[]) => {
        asked.set(address, args.at(-1) as Answer);
        return new Held();
      },
      getChannel: () => ({ getConnectivityState: () => connectivityState.READY }),
      close: () => undefined,
    };
    const member: Member = new Member({
      address,
      connect: () => client as unknown as Client,
      exchange: () => new Held() as unknown as Exchange,
      metadata: () => new Metadata(),
      calls: new StreamedCalls(() => member.shortCalls),
      onChange: () => undefined,
    });
    jest.spyOn(member, 'break').mockImplementation(() => void broken.push(address));
    made.push(member);
    return member;
  });
});
afterEach(() => {
  members.close();
  jest.useRealTimers();
});

async function turn(...answering: string[]): Promise<void> {
  await jest.advanceTimersByTimeAsync(TURN_MS);
  for (const address of answering) {
    asked.get(`${address}:1`)?.(null, { status: 'SERVING' });
    asked.delete(`${address}:1`);
  }
  await jest.advanceTimersByTimeAsync(0);
}

/** Both serve. The second answered its first check late, and is checked between turns of the first. */
async function bothServe(): Promise<void> {
  await turn('one');
  await turn('one', 'two');
  for (let turns = 0; turns < 4; turns += 1) {
    await turn('one', 'two');
  }
  expect(made.map(({ state }) => state)).toEqual(['serving', 'serving']);
}

test('servers that fall silent together keep their calls, whichever was asked first', async () => {
  await bothServe();
  for (let turns = 0; turns < SILENT_TURNS; turns += 1) {
    await turn();
  }
  expect(made.map(({ state }) => state)).toEqual(['unreachable', 'unreachable']);
  expect(broken).toEqual([]);
});

test('a server that falls silent while the other answers loses its calls', async () => {
  await bothServe();
  for (let turns = 0; turns < SILENT_TURNS; turns += 1) {
    await turn('two');
  }
  expect(broken).toContain('one:1');
  expect(broken).not.toContain('two:1');
});
