import { expect, test } from '@jest/globals';
import type { ClientId } from '../../../generated/ids.js';
import type { DirectoryStores } from '../../../src/domain/directory/stores.js';
import { type AnswerOptions, OneAnswer } from '../../../src/store/replica/one-answer.js';

const ID = 'cli_1' as ClientId;

function storesOf(server: string): DirectoryStores {
  const organization = { jobTitlesOf: async () => server };
  return { ...{ clients: {}, workers: {}, users: {} }, organization } as unknown as DirectoryStores;
}

/** An answer that began with the version `old`. */
function answerWith(versions: Pick<AnswerOptions, 'present' | 'shown'>) {
  const told: unknown[] = [];
  const { stores } = new OneAnswer({
    ...{ replica: storesOf('replica'), primary: storesOf('primary'), version: 'old' },
    ...versions,
    isUp: () => true,
    onFailure: (error) => told.push(error),
    onPrimary: (reason) => told.push(reason),
  });
  return { told, read: () => stores.organization.jobTitlesOf(ID) };
}

test('a primary that cannot tell its version is no failure of the replica', async () => {
  const busy = new Error('the primary has no free connection');
  const { told, read } = answerWith({ present: async () => 'new', shown: () => Promise.reject(busy) });
  await expect(read()).resolves.toBe('primary');
  expect(told).toEqual(['lag']);
});

test('a replica that cannot tell its version has failed', async () => {
  const gone = new Error('the replica is gone');
  const { told, read } = answerWith({ present: () => Promise.reject(gone), shown: async () => 'new' });
  await expect(read()).resolves.toBe('primary');
  expect(told).toEqual([gone, 'failure']);
});
