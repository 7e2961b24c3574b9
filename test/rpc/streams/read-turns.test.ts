import { describe, expect, test } from '@jest/globals';
import { PlatformServiceService as platform } from '../../../generated/proto/integration/platform/v1/platform.js';
import { CallerLeft } from '../../../src/errors/service-error.js';
import type { Identity } from '../../../src/rpc/callers.js';
import { type CallContext, serve } from '../../../src/rpc/handlers.js';
import { ReadTurns } from '../../../src/rpc/streams/read-turns.js';
import { eventually } from '../../support/eventually.js';
import { signalled } from '../../support/signalled.js';
import { rpcRigs, TOKENS } from '../rig.js';

const AT_ONCE = 4;
const nextTurn = () => new Promise(setImmediate);
const limited = (tokenId: string, instanceId: string) => ({ tokenId, instanceId }) as Partial<Identity>;

/** Calls of a method, and the names of those that have begun. */
function calls(method: Parameters<ReadTurns['handlerOf']>[0]) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const turns = new ReadTurns();
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

describe('many reads of tokens of the database', () => {
  test('are divided among turns of the event loop, in which others run', async () => {
    const { begun, quick } = calls(platform.listWorkers);
    const answers = Array.from({ length: 2 * AT_ONCE + 1 }, () => quick('read', TOKEN));
    await new Promise(process.nextTick);
    const seen = [begun.length];
    while (begun.length < answers.length) {
      await nextTurn();
      seen.push(begun.length);
    }
    expect(seen).toEqual([AT_ONCE, 2 * AT_ONCE, 2 * AT_ONCE + 1]);
    await Promise.all(answers);
  });

  test('leave connections to the roles, whose reads do not wait for them', async () => {
    const { begun, ends, long } = calls(platform.getUser);
    const answers = Array.from({ length: AT_ONCE + 2 }, () => long('read', TOKEN));
    answers.push(long('edge', { caller: 'edge' }));
    const first = [...Array(AT_ONCE).fill('read'), 'edge'];
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
      ...Array.from({ length: AT_ONCE }, () => quick('first', TOKEN)),
      quick('a1', limited('tok_2', 'ins_a')),
      quick('a2', limited('tok_3', 'ins_a')),
      quick('t1', { tokenId: 'tok_4', ownerId: 'tok_4' }),
      quick('t2', { tokenId: 'tok_5', ownerId: 'tok_4' }),
      quick('b1', limited('tok_6', 'ins_b')),
    ];
    await Promise.all(answers);
    expect(begun.slice(AT_ONCE)).toEqual(['a1', 't1', 'b1', 'a2', 't2']);
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
    await eventually('the first reads', () => begun === AT_ONCE);
    await client.updateInstance(platform.updateInstance.requestDeserialize(Buffer.alloc(0)), options);
    expect(begun).toBe(AT_ONCE);
    tell();
    await Promise.all(answers);
    expect(begun).toBe(AT_ONCE + 2);
  });
});
