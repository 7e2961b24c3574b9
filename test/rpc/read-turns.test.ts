import { describe, expect, test } from '@jest/globals';
import { PlatformServiceService as platform } from '../../generated/proto/integration/platform/v1/platform.js';
import { CallerLeft, ErrorCode } from '../../src/errors/service-error.js';
import type { Identity } from '../../src/rpc/callers.js';
import { ReadTurns } from '../../src/rpc/endpoint.js';
import { type CallContext, serve } from '../../src/rpc/handlers.js';
import { eventually } from '../support/eventually.js';
import { signalled } from '../support/signalled.js';
import { rpcRigs, TOKENS } from './rig.js';

const AT_ONCE = 4;
const OF_AN_OWNER = 2;
const MOST_WAITING = 512;
const nextTurn = () => new Promise(setImmediate);
const limited = (tokenId: string, instanceId: string) => ({ tokenId, instanceId }) as Partial<Identity>;

/** Calls of a method, and the names of those that have begun. */
function calls(method: Parameters<ReadTurns['handlerOf']>[0], turns = new ReadTurns()) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const callWith =
    (work: () => Promise<unknown>) =>
    (name: string, identity: object, isCancelled = false) => {
      const handler = turns.handlerOf(method, (async () => {
        begun.push(name);
        return work();
      }) as never);
      return handler({} as never, { identity, isCancelled } as CallContext) as Promise<unknown>;
    };
  /** Is done in the turn in which it begins, as a read of SQLite is. */
  const quick = callWith(async () => undefined);
  /** Ends when it is told to. */
  const long = callWith(() => new Promise<void>((resolve) => ends.push(resolve)));
  return { begun, ends, quick, long };
}

const TOKEN = { tokenId: 'tok_1' };
const OTHER = { tokenId: 'tok_2' };

describe('many reads of tokens of the database', () => {
  test('begin where they block the event loop once in a turn for each of two owners', async () => {
    const { begun, quick } = calls(platform.listWorkers, new ReadTurns({ readsBlock: true }));
    const answers = [TOKEN, TOKEN, OTHER, OTHER, limited('tok_3', 'ins_a')].map((owner) =>
      quick('read', owner),
    );
    await new Promise(process.nextTick);
    const seen = [begun.length];
    while (begun.length < answers.length) {
      await nextTurn();
      seen.push(begun.length);
    }
    expect(seen).toEqual([2, 4, 5]);
    await Promise.all(answers);
  });

  test('of one owner keep no other waiting where they block the event loop, such as during a long search', async () => {
    const { begun, ends, long, quick } = calls(platform.listWorkers, new ReadTurns({ readsBlock: true }));
    const search = long('search', TOKEN);
    await quick('other', OTHER);
    await quick('other', OTHER);
    expect(begun).toEqual(['search', 'other', 'other']);
    ends.shift()?.();
    await search;
  });

  test('are few at once, half of them of one owner at most; the roles wait for none', async () => {
    const { begun, ends, long } = calls(platform.getUser);
    const read = (name: string, owner: object) => long(name, owner);
    const answers = [...Array(OF_AN_OWNER + 1)].map(() => read('one', TOKEN));
    answers.push(
      ...[...Array(OF_AN_OWNER + 1)].map(() => read('other', OTHER)),
      read('third', limited('t', 'i')),
    );
    answers.push(long('edge', { caller: 'edge' }));
    const first = ['one', 'one', 'other', 'other', 'edge'];
    expect(begun).toEqual(first);
    ends.shift()?.();
    await eventually('the next read', () => begun.length > first.length);
    expect(begun).toHaveLength(first.length + 1);
    while (begun.length < answers.length || ends.length > 0) {
      ends.shift()?.();
      await nextTurn();
    }
    await Promise.all(answers);
  });

  test('begin in turn for their owners: an instance, or a token with its successors', async () => {
    const { begun, quick } = calls(platform.listWorkers);
    const answers = [
      ...[TOKEN, OTHER].flatMap((owner) => [quick('first', owner), quick('first', owner)]),
      quick('a1', limited('tok_3', 'ins_a')),
      quick('a2', limited('tok_4', 'ins_a')),
      quick('t1', { tokenId: 'tok_5', ownerId: 'tok_5' }),
      quick('t2', { tokenId: 'tok_6', ownerId: 'tok_5' }),
      quick('b1', limited('tok_7', 'ins_b')),
    ];
    await Promise.all(answers);
    expect(begun.slice(AT_ONCE)).toEqual(['a1', 't1', 'b1', 'a2', 't2']);
  });

  test('are refused beyond those that a token may have under way', async () => {
    const { ends, long } = calls(platform.listWorkers);
    const answers = Array.from({ length: OF_AN_OWNER + MOST_WAITING }, () => long('read', TOKEN));
    await expect(long('excess', TOKEN)).rejects.toMatchObject({ code: ErrorCode.RATE_LIMITED });
    const other = long('other', OTHER);
    for (let ended = 0; ended < answers.length + 1; ended += 1) {
      await eventually('a read', () => ends.length > 0);
      ends.shift()?.();
      await nextTurn();
    }
    await Promise.all([...answers, other]);
  });

  test('do not begin for callers that have left before their turn', async () => {
    const { begun, quick } = calls(platform.listWorkers);
    await expect(quick('left', TOKEN, true)).rejects.toBeInstanceOf(CallerLeft);
    await quick('present', TOKEN);
    expect(begun).toEqual(['present']);
  });

  test.each([platform.updateWorker, platform.importRecords])('keep no write waiting: $path', (method) => {
    const { begun, long } = calls(method);
    for (let count = 0; count < 16; count += 1) {
      void long('write', TOKEN);
    }
    expect(begun).toHaveLength(16);
  });
});

describe('a server', () => {
  const rigs = rpcRigs();

  test('runs few reads of a token at once, and its writes besides', async () => {
    const { told: end, tell } = signalled();
    let begun = 0;
    const service = serve(platform, {
      listWorkers: async () => {
        begun += 1;
        await end;
        return platform.listWorkers.responseDeserialize(Buffer.alloc(0));
      },
      updateInstance: async () => platform.updateInstance.responseDeserialize(Buffer.alloc(0)),
    });
    const authenticate = () => ({ caller: 'platform', tokenId: 'tok_1' }) as const;
    const rig = await rigs.start([service], { authenticate });
    const client = rig.channel(TOKENS.platform).clientOf(platform);
    const options = { requestId: 'r', deadlineMs: 20_000 };
    const answers = Array.from({ length: AT_ONCE + 2 }, () =>
      client.listWorkers(platform.listWorkers.requestDeserialize(Buffer.alloc(0)), options),
    );
    await eventually('the first reads', () => begun === OF_AN_OWNER);
    await client.updateInstance(platform.updateInstance.requestDeserialize(Buffer.alloc(0)), options);
    expect(begun).toBe(OF_AN_OWNER);
    tell();
    await Promise.all(answers);
    expect(begun).toBe(AT_ONCE + 2);
  });
});
