import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { KyselyPlugin } from 'kysely';
import type { AuditEvent, AuditFilter } from '../../../../src/domain/operator/audit.js';
import { CallerLeft } from '../../../../src/errors/service-error.js';
import { auditRows } from '../../../../src/store/adapters/operator/audit-events.js';
import { growingSlice } from '../../../../src/store/adapters/webhooks/logs/sliced-page.js';
import type { Database } from '../../../../src/store/database.js';
import {
  type DatabaseUnderTest,
  databaseUnderTest,
  describeEachDatabase,
} from '../../../support/databases.js';

/** More than two slices. */
const RECORDS = 4_500;
const RECORDS_AT_ONCE = 500;

/** Of these types and parties: the rare ones are far apart. */
const TYPES = ['token.issued', 'token.refused', 'api_key.revoked'];
const PARTIES = ['tok_1', 'tok_2', 'usr_1', 'usr_2'];

type Recorded = Pick<AuditEvent, 'id' | 'createdAt' | 'type' | 'outcome'> & {
  actorId: string;
  subjectId: string;
};

function recordAt(index: number): Recorded {
  const isRare = index % 1_999 === 7;
  return {
    id: `aud_${String((index * 7_919) % RECORDS).padStart(5, '0')}`,
    // Some of the same time.
    createdAt: 1_000 + Math.floor(index / 3),
    type: TYPES[isRare ? 2 : index % 2] as string,
    outcome: index % 5 === 0 ? 'refused' : 'succeeded',
    actorId: PARTIES[isRare ? 1 : 0] as string,
    subjectId: PARTIES[isRare ? 1 : 2 + (index % 2)] as string,
  };
}

const records = Array.from({ length: RECORDS }, (_, index) => recordAt(index));

async function logIn(under: DatabaseUnderTest): Promise<Database> {
  const database = await under.openMigrated();
  const rows = records.map(({ createdAt, actorId, subjectId, ...record }) => ({
    ...{ ...record, created_at: createdAt, actor_type: 'service_token', actor_id: actorId },
    ...{ subject_type: 'user', subject_id: subjectId, request_id: null, remote_address: null },
    ...{ attributes: '{}', chain: null, seq: null, hash: null },
  }));
  await database.write(async (writer) => {
    for (let from = 0; from < RECORDS; from += RECORDS_AT_ONCE) {
      await writer
        .insertInto('audit_events')
        .values(rows.slice(from, from + RECORDS_AT_ONCE))
        .execute();
    }
  });
  return database;
}

function expected({ since = 0, until = Number.POSITIVE_INFINITY, types, outcome, partyId }: AuditFilter) {
  return records
    .filter(({ createdAt }) => createdAt >= since && createdAt < until)
    .filter(({ type }) => types.length === 0 || types.some((one) => type.startsWith(one.replace('*', ''))))
    .filter((record) => outcome === undefined || record.outcome === outcome)
    .filter(({ actorId, subjectId }) => partyId === undefined || [actorId, subjectId].includes(partyId))
    .sort((one, other) => other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1))
    .map(({ id }) => id);
}

const time = fc.option(fc.integer({ min: 1_000, max: 1_000 + RECORDS / 3 }), { nil: undefined });
const filters = fc.record({
  since: time,
  until: time,
  types: fc.subarray([...TYPES, 'token.*', 'session.*']),
  outcome: fc.constantFrom(undefined, 'refused' as const),
  partyId: fc.constantFrom(undefined, ...PARTIES, 'usr_unknown'),
}) as fc.Arbitrary<AuditFilter>;

describeEachDatabase('pages of the audit log', (under) => {
  test('have all records that match, newest first', async () => {
    const rows = auditRows((await logIn(under)).reader);
    await fc.assert(
      fc.asyncProperty(filters, fc.constantFrom(2, 400, 5_000), async (filter, limit) => {
        const ids: string[] = [];
        let after: AuditEvent | undefined;
        do {
          const page = await rows.page({ after, limit }, filter);
          ids.push(...page.map(({ id }) => id));
          after = page.length === limit && ids.length < 3 * limit ? page.at(-1) : undefined;
        } while (after);
        expect(ids).toEqual(expected(filter).slice(0, 3 * limit));
      }),
      { numRuns: 40 },
    );
  });

  test('are searched no further when the caller has left', async () => {
    const rows = auditRows((await logIn(under)).reader);
    let isOver = false;
    const search = rows.page({ after: undefined, limit: 5 }, { types: ['api_key.*'] }, () => {
      const wasOver = isOver;
      isOver = true;
      return wasOver;
    });
    await expect(search).rejects.toBeInstanceOf(CallerLeft);
  });
});

describe('on PostgreSQL', () => {
  const under = databaseUnderTest('PostgreSQL');

  test('a search for records that are rare is several statements, and one for frequent records is not', async () => {
    const { reader } = await logIn(under);
    let statements = 0;
    const counting: KyselyPlugin = {
      transformQuery: ({ node }) => {
        statements += 1;
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    const rows = auditRows(reader.withPlugin(counting));
    const statementsOf = async (types: string[]) => {
      statements = 0;
      const found = await rows.page({ after: undefined, limit: 5 }, { types });
      return [found.length, statements];
    };
    // For each slice, its end and its matches.
    expect(await statementsOf(['api_key.*'])).toEqual([3, 4]);
    expect(await statementsOf(['token.*'])).toEqual([5, 2]);
  });

  test('slices grow from one that costs a frequent search little to one that ends in time', () => {
    expect([0, 1, 2, 3, 300].map(growingSlice)).toEqual([2_000, 20_000, 200_000, 200_000, 200_000]);
  });
});

describe('on SQLite', () => {
  const under = databaseUnderTest('SQLite');

  test('a search for records that are rare lets other work have its turns', async () => {
    const { reader } = await logIn(under);
    let turns = 0;
    const turn = () => {
      turns += 1;
      coming = setImmediate(turn);
    };
    let coming = setImmediate(turn);
    const found = await auditRows(reader).page({ after: undefined, limit: 5 }, { types: ['api_key.*'] });
    clearImmediate(coming);
    expect(found).toHaveLength(3);
    expect(turns).toBeGreaterThanOrEqual(2);
  });
});
