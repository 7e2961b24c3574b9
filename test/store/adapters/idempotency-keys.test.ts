import { expect, test } from '@jest/globals';
import type { KyselyPlugin } from 'kysely';
import { ErrorCode } from '../../../src/errors/service-error.js';
import { platformUnitOfWork } from '../../../src/store/adapters/platform/unit-of-work.js';
import type { Database } from '../../../src/store/database.js';
import { databaseUnderTest } from '../../support/databases.js';

const under = databaseUnderTest('PostgreSQL');

/** Removes the keys as soon as a statement has changed nothing, which was the insertion of one. */
function purgedBehindInsertion({ write }: Database): KyselyPlugin {
  return {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (result.numAffectedRows === 0n) {
        await write((writer) => writer.deleteFrom('idempotency_keys').execute());
      }
      return result;
    },
  };
}

test('a key that is purged while its call is repeated is answered as if the service were busy', async () => {
  const database = await under.openMigrated();
  const repeatable = {
    ...{ ownerId: 'tok_1', method: 'CreateUser', key: 'once', requestHash: 'hash' },
    encode: (answer: string) => Buffer.from(answer),
    decode: (bytes: Uint8Array) => Buffer.from(bytes).toString(),
  };
  const call = (over: Database, answer: string) =>
    platformUnitOfWork(over).run(async () => answer, { repeatable });
  await expect(call(database, 'first')).resolves.toBe('first');
  await expect(call(database, 'second')).resolves.toBe('first');
  const purged: Database = {
    ...database,
    write: (work, ...rest) =>
      database.write((writer) => work(writer.withPlugin(purgedBehindInsertion(database))), ...rest),
  };
  await expect(call(purged, 'second')).rejects.toMatchObject({ code: ErrorCode.UNAVAILABLE });
  await expect(call(database, 'third')).resolves.toBe('third');
});
