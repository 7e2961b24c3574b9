import type { InstanceId } from '../../../../generated/ids.js';
import { createIntegration } from '../../../../src/domain/operator/integrations.js';
import type { OperatorChanges } from '../../../../src/domain/operator/unit-of-work.js';
import { inNameOf } from '../../../../src/domain/unit-of-work.js';
import { ErrorCode, ServiceError } from '../../../../src/errors/service-error.js';
import { operatorUnitOfWork } from '../../../../src/store/adapters/operator/unit-of-work.js';
import type { Database } from '../../../../src/store/database.js';
import { fakeClock } from '../../../domain/clock.js';
import type { DatabaseUnderTest } from '../../../support/databases.js';
import { plantInstance } from '../../rows.js';

export const OPERATOR = {
  type: 'service_token',
  id: 'tok_of_the_test',
  requestId: 'request-1',
  remoteAddress: '192.0.2.1',
};

/** A migrated database with the operator's unit of work over it, and a clock that the test turns. */
export async function operatorRig(under: DatabaseUnderTest) {
  const database = await under.openMigrated();
  const clock = fakeClock();
  const unitOfWork = operatorUnitOfWork({ ...database, clock: clock.now });
  const run = <T>(work: (changes: OperatorChanges) => Promise<T>) => inNameOf(OPERATOR, unitOfWork).run(work);
  return {
    database,
    clock,
    run,
    rows: unitOfWork.rows,
    newIntegration: (name = 'Brightledger') => run((changes) => createIntegration(changes, { name })),
    newInstance: async (name = 'Harborlight'): Promise<InstanceId> =>
      (await plantInstance(database, { name, version: 'v1' })).id,
    /** The types of what the audit log has, oldest first. */
    audited: async () => {
      const rows = await database.reader
        .selectFrom('audit_events')
        .orderBy('created_at')
        .select(['type', 'subject_id'])
        .execute();
      return rows.map(({ type }) => type);
    },
  };
}

/** The version that ETags are made of. */
export async function dataVersion(database: Database, id: string): Promise<string | undefined> {
  const row = await database.reader
    .selectFrom('data_versions')
    .where('subject_id', '=', id)
    .select('version')
    .executeTakeFirst();
  return row?.version;
}

/** Everything that is stored, for a look at what must not be there and at what must not have changed. */
export async function everythingIn({ reader }: Database): Promise<string> {
  const tables = [
    'integrations',
    'instance_integrations',
    'api_keys',
    'service_tokens',
    'applications',
    'application_redirect_uris',
    'application_secrets',
    'audit_events',
    'data_versions',
  ] as const;
  const contents = await Promise.all(tables.map((table) => reader.selectFrom(table).selectAll().execute()));
  // PostgreSQL hands rows over in the order of their last writing.
  const sorted = contents.map((rows) => rows.map((row) => JSON.stringify(row)).sort());
  return JSON.stringify(sorted);
}

export async function refusal(work: Promise<unknown>): Promise<{ code: string; paths: string[] }> {
  const outcome = await work.then(
    () => new Error('It was done.'),
    (error: unknown) => error,
  );
  if (!(outcome instanceof ServiceError)) {
    throw outcome;
  }
  const code = Object.entries(ErrorCode).find(([, value]) => value === outcome.code)?.[0] ?? '';
  return { code, paths: outcome.fieldViolations.map(({ path }) => path) };
}
