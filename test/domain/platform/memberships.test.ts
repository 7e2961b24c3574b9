import { expect, test } from '@jest/globals';
import { assertNoMember } from '../../../src/domain/platform/people/accounts.js';
import type { AccountContext } from '../../../src/domain/platform/rows/people.js';
import { ErrorCode } from '../../../src/errors/service-error.js';

const MOST = 1_000;

/** Of one person: so many workers of other clients of the instance. */
function workersOf(instanceId: string, count: number): AccountContext[] {
  return Array.from({ length: count }, (_, index) => ({
    member: { kind: 'worker', id: `wor_${index}` },
    clientId: `cli_${index}`,
    instanceId,
    enabled: true,
  })) as unknown as AccountContext[];
}

function asserted(contexts: AccountContext[], kind: 'user' | 'worker', id = 'cli_new'): Promise<void> {
  const client = { id, instanceId: 'ins_1' } as Parameters<typeof assertNoMember>[2];
  const accounts = { contextsOf: async () => contexts } as unknown as Parameters<
    typeof assertNoMember
  >[0]['accounts'];
  return assertNoMember({ accounts }, 'acc_1' as Parameters<typeof assertNoMember>[1], client, kind);
}

test.each(['user', 'worker'] as const)(
  'a person becomes a %s a thousand times on an instance, and no more',
  async (kind) => {
    await asserted(workersOf('ins_1', MOST - 1), kind);
    await expect(asserted(workersOf('ins_1', MOST), kind)).rejects.toMatchObject({
      code: ErrorCode.TRANSITION_REFUSED,
      message: 'A person can be user or worker at most 1000 times on an instance.',
    });
  },
);

test('what a person is on other instances takes no room', async () => {
  await asserted([...workersOf('ins_1', MOST - 1), ...workersOf('ins_2', MOST)], 'user');
});

test('a worker of a client can become its user, but not its worker again', async () => {
  await asserted(workersOf('ins_1', 1), 'user', 'cli_0');
  await expect(asserted(workersOf('ins_1', 1), 'worker', 'cli_0')).rejects.toMatchObject({
    code: ErrorCode.ALREADY_EXISTS,
  });
});
