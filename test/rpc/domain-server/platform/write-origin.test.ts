import { describe, expect, test } from '@jest/globals';
import type { InstanceId } from '../../../../generated/ids.js';
import type { PlatformRows, PlatformUnitOfWork } from '../../../../src/domain/platform/unit-of-work.js';
import type { WriteOrigin } from '../../../../src/domain/unit-of-work.js';
import { platformService } from '../../../../src/rpc/domain-server/platform/index.js';
import type { CallContext } from '../../../../src/rpc/handlers.js';
import { platformDependencies, quickHasher } from '../../../support/platform-dependencies.js';
import { signalled } from '../../../support/signalled.js';

const { signal } = new AbortController();
const CONTEXT: CallContext = {
  ...{ requestId: 'req-1', identity: { caller: 'platform', tokenId: 'tok_1' } },
  ...{ remoteAddress: undefined, isCancelled: false, signal },
};

/** The origin that a call gives to its write. */
async function originOf(
  method: string,
  request: object,
  context = CONTEXT,
): Promise<WriteOrigin | undefined> {
  let seen: WriteOrigin | undefined;
  const run: PlatformUnitOfWork['run'] = (_work, origin) => {
    seen = origin;
    return Promise.reject(new Error('It is seen.'));
  };
  const { handlers } = platformService(
    platformDependencies({ inOrder: true, rows: {} as PlatformRows, run }),
  );
  const answer = handlers[method]?.(request as never, context) as unknown;
  const ended = Symbol.asyncIterator in (answer as object) ? (answer as AsyncGenerator).next() : answer;
  await expect(ended).rejects.toThrow('It is seen.');
  return seen;
}

async function* lines() {
  yield { part: { $case: 'options', value: {} } };
  const client = { name: 'Tallowfern', instanceId: 'ins_1' };
  yield {
    part: { $case: 'lines', value: { lines: [{ line: 1, record: { $case: 'client', value: client } }] } },
  };
}

describe('a write of the platform', () => {
  test.each([
    { method: 'createClient', request: { instanceId: 'ins_1', name: 'Tallowfern' }, lane: 'tok_1 ins_1' },
    { method: 'updateClient', request: { clientId: 'cli_1' }, lane: 'tok_1 cli_1' },
    { method: 'updateUser', request: { userId: 'usr_1' }, lane: 'tok_1 ' },
    { method: 'importRecords', request: lines(), lane: 'tok_1 imports' },
  ])(
    'of $method is made in the lane of its tenant and for as long as its caller is there',
    async ({ method, request, lane }) => {
      expect(await originOf(method, request)).toEqual({ lane, signal, requestId: CONTEXT.requestId });
    },
  );

  test('gets no lane more for an import more', async () => {
    const another = { ...CONTEXT, requestId: 'req-2' };
    const lanes = [
      (await originOf('importRecords', lines(), another))?.lane,
      (await originOf('importRecords', lines()))?.lane,
    ];
    expect(lanes).toEqual(['tok_1 imports', 'tok_1 imports']);
  });

  test.each([
    { method: 'updateClient', request: { clientId: 'cli_1' } },
    { method: 'updateClient', request: { clientId: 'cli_2' } },
    { method: 'importRecords', request: lines() },
  ])(
    'of $method is made in the lane of the instance to which its token is limited',
    async ({ method, request }) => {
      const instanceId = 'ins_1' as InstanceId;
      const limited = { ...CONTEXT, identity: { ...CONTEXT.identity, instanceId } };
      expect(await originOf(method, request, limited)).toEqual({
        lane: 'ins_1',
        limitedTo: 'ins_1',
        signal,
        requestId: CONTEXT.requestId,
      });
    },
  );

  test('has the origin of its own call when another call overtakes it', async () => {
    const seen: (WriteOrigin | undefined)[] = [];
    const run: PlatformUnitOfWork['run'] = (_work, origin) => {
      seen.push(origin);
      return Promise.reject(new Error('It is seen.'));
    };
    const accounts = { find: async (id: string) => ({ id }), namesAround: async () => [] };
    const rows = { accounts } as unknown as PlatformRows;
    const [begun, ended] = [signalled(), signalled()];
    const hash = async (password: string) => {
      if (password.startsWith('first')) {
        begun.tell();
        await ended.told;
      }
      return quickHasher.hash(password);
    };
    const { handlers } = platformService({
      ...platformDependencies({ inOrder: true, rows, run }),
      passwords: { ...quickHasher, hash },
    });
    const set = async (accountId: string, password: string, context: CallContext): Promise<void> => {
      const answer = handlers.setPassword?.({ accountId, password }, context);
      await expect(answer).rejects.toThrow('It is seen.');
    };
    const other = {
      requestId: 'req-2',
      identity: { ...CONTEXT.identity, tokenId: 'tok_2' },
      isCancelled: false,
      signal: new AbortController().signal,
    };
    const first = set('acc_1', 'first of two pass phrases', CONTEXT);
    await begun.told;
    await set('acc_2', 'second of two pass phrases', { ...CONTEXT, ...other });
    ended.tell();
    await first;
    expect(seen.map((origin) => [origin?.lane, origin?.requestId])).toEqual([
      ['tok_2 acc_2', 'req-2'],
      ['tok_1 acc_1', 'req-1'],
    ]);
    expect(seen[0]?.signal).toBe(other.signal);
    expect(seen[1]?.signal).toBe(signal);
  });
});
