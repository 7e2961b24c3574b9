import { describe, expect, test } from '@jest/globals';
import { type Kysely, Migrator, sql } from 'kysely';
import { migratorOf } from '../../../src/store/migrate.js';
import { migrations, newestMigration } from '../../../src/store/migrations/index.js';
import type { Step } from '../../../src/store/migrations/step.js';
import type { Schema } from '../../../src/store/schema.js';
import type { Store } from '../../../src/store/store.js';
import { type DatabasePlace, type DatabaseUnderTest, describeEachDatabase } from '../../support/databases.js';

const EXPANSION = '9998-expansion';
const CONTRACTION = '9999-contraction';

/** Adds a column, as a release may that the nodes of the release before survive. */
const expansion: Step = {
  up: (db) => db.schema.alterTable('instances').addColumn('nickname', 'text').execute(),
};
const removal: Step = {
  required: EXPANSION,
  up: (db) => db.schema.alterTable('instances').dropColumn('nickname').execute(),
};
const nextRelease = { [EXPANSION]: expansion };
const releaseAfterNext = { ...nextRelease, [CONTRACTION]: removal };

async function migrate(
  under: DatabaseUnderTest,
  place: DatabasePlace,
  added: Record<string, Step>,
): Promise<Error | undefined> {
  const { patient: db } = await under.open(place);
  const { error } = await migratorOf(db, { ...migrations, ...added }).migrateToLatest();
  return error as Error | undefined;
}

const readable = (store: Store) => store.sharedMailboxes();

describeEachDatabase('a node of this version', (under) => {
  test('goes on serving while the next release migrates the database, and says that it did', async () => {
    const place = await under.newPlace();
    const store = await under.openStore(place);
    expect(await migrate(under, place, nextRelease)).toBeUndefined();
    expect(await store.schemaDrift()).toEqual({ missing: [], newer: [EXPANSION], required: [] });
    await expect(store.ping()).resolves.toBeUndefined();
  });

  test('starts on a database of the next release: the way back', async () => {
    const place = await under.newPlace();
    await migrate(under, place, nextRelease);
    const store = await under.openStore(place);
    await expect(store.ping()).resolves.toBeUndefined();
    await expect(readable(store)).resolves.toEqual([]);
  });

  test('refuses a database of which a later release has removed what it uses', async () => {
    const place = await under.newPlace();
    const running = await under.openStore(place);
    expect(await migrate(under, place, releaseAfterNext)).toBeUndefined();
    expect((await running.schemaDrift()).required).toEqual([EXPANSION]);
    await expect(under.openStore(place)).rejects.toThrow(
      `The database was migrated by a newer version of the service (it has ${EXPANSION}).`,
    );
  });

  test('ends when it finds, after a freeze, that the others have removed what it uses', async () => {
    const place = await under.newPlace();
    const frozen = await under.openStore(place);
    await migrate(under, place, releaseAfterNext);
    await expect(
      frozen.seals.announce({ node: 'payroll-1', keyIds: [], usedId: null, issuer: 'http://localhost' }),
    ).rejects.toThrow(`migrated by a newer version of the service (it has ${EXPANSION})`);
  });

  test('starts on a database that was migrated while the clock was set back', async () => {
    const place = await under.newPlace();
    const { patient } = await under.open(place);
    const asOfThen = sql`update kysely_migration set timestamp = '2000-01-01T00:00:00.000Z'`;
    await sql`${asOfThen} where name = ${newestMigration}`.execute(patient);
    const store = await under.openStore(place);
    await expect(store.ping()).resolves.toBeUndefined();
  });

  test('refuses a database that lacks a migration and has newer ones: they may build on it', async () => {
    const place = await under.newPlace();
    await migrate(under, place, nextRelease);
    const { patient } = await under.open(place);
    await sql`delete from kysely_migration where name = ${newestMigration}`.execute(patient);
    await expect(under.openStore(place)).rejects.toThrow(EXPANSION);
  });

  test('refuses a database that another program has migrated with Kysely', async () => {
    const place = await under.newEmptyPlace();
    const { patient } = await under.open(place);
    const bookings = ({ schema }: Kysely<unknown>) =>
      schema.createTable('bookings').addColumn('id', 'text').execute();
    const provider = { getMigrations: async () => ({ '2025-bookings': { up: bookings } }) };
    const { error } = await new Migrator({ db: patient, provider }).migrateToLatest();
    expect(error).toBeUndefined();
    await expect(under.openStore(place)).rejects.toThrow(
      'The database has been migrated by another program (it has 2025-bookings).',
    );
  });
});

describeEachDatabase('a release that removes what earlier nodes use', (under) => {
  const announced = async (place: DatabasePlace, node: string) => {
    const { seals } = await under.openStore(place);
    await seals.announce({ node, keyIds: [], usedId: null, issuer: 'http://localhost' });
    return seals;
  };
  const knows = async (place: DatabasePlace, migration: string | null) => {
    const { patient } = await under.open(place);
    await sql`update encryption_key_holders set newest_migration = ${migration}`.execute(patient);
  };
  const isApplied = async (place: DatabasePlace) => {
    const { patient } = await under.open(place);
    const { rows } = await sql`select 1 from required_migrations`.execute(patient);
    return rows.length > 0;
  };

  test.each<[string, string | null]>([
    ['of this version', newestMigration],
    ['that tells no version', null],
  ])('waits, on PostgreSQL, until no node %s runs', async (_, known) => {
    const place = await under.newPlace();
    const seals = await announced(place, 'payroll-1');
    await knows(place, known);
    const isRefused = under.kind === 'PostgreSQL';
    const refusal = await migrate(under, place, releaseAfterNext);
    expect(refusal?.message).toEqual(
      isRefused
        ? `Domain nodes without the migration ${EXPANSION} still run (payroll-1), and this version removes what they use. Update them to the release before this one first. A killed node counts for 90 s.`
        : undefined,
    );
    expect(await isApplied(place)).toBe(!isRefused);
    await seals.leave('payroll-1');
    expect(await migrate(under, place, releaseAfterNext)).toBeUndefined();
    expect(await isApplied(place)).toBe(true);
  });

  test('does not wait for a node that was killed before the clock of the database was set back', async () => {
    const place = await under.newPlace();
    await announced(place, 'payroll-1');
    await knows(place, null);
    const { patient } = await under.open(place);
    await sql`update encryption_key_holders set seen_at = seen_at + 3600000`.execute(patient);
    expect(await migrate(under, place, releaseAfterNext)).toBeUndefined();
  });

  test('does not wait for nodes of the release before it', async () => {
    const place = await under.newPlace();
    await announced(place, 'payroll-1');
    await knows(place, EXPANSION);
    expect(await migrate(under, place, releaseAfterNext)).toBeUndefined();
  });
});

describe('each migration', () => {
  /** From before nodes of two releases could serve one database. */
  const EARLIER = ['0008-bounded-sign-on', '0011-audit-chains', '0012-order-of-events'];

  describeEachDatabase('leaves to nodes of the release before', (under) => {
    test('what they use, unless it is a contraction', async () => {
      const { patient: db } = await under.open(await under.newEmptyPlace());
      const patient = migratorOf(db, migrations);
      const taken: Record<string, string[]> = {};
      let before = new Map<string, boolean>();
      let required = 0;
      for (const name of Object.keys(migrations)) {
        const { error } = await patient.migrateTo(name);
        expect(error).toBeUndefined();
        const after = await columnsOf(db);
        const losses = lossesBetween(before, after);
        const contractions = await countOfRequired(db);
        if (losses.length > 0 && contractions === required) {
          taken[name] = losses;
        }
        [before, required] = [after, contractions];
      }
      expect(Object.keys(taken)).toEqual(EARLIER);
    });
  });
});

/** Columns by table and name, and whether an insert must give a value. */
async function columnsOf(db: Kysely<Schema>): Promise<Map<string, boolean>> {
  const tables = await db.introspection.getTables();
  return new Map(
    tables.flatMap(({ name, columns }) =>
      columns.map((column) => [
        `${name}.${column.name}`,
        !column.isNullable && !column.hasDefaultValue && !column.isAutoIncrementing,
      ]),
    ),
  );
}

function lossesBetween(before: ReadonlyMap<string, boolean>, after: ReadonlyMap<string, boolean>): string[] {
  const tableOf = (column: string) => column.split('.')[0];
  const tables = new Set([...before.keys()].map(tableOf));
  const removed = [...before.keys()].filter((column) => !after.has(column));
  const demanded = [...after]
    .filter(([column, isDemanded]) => isDemanded && tables.has(tableOf(column)) && !before.get(column))
    .map(([column]) => column);
  return [...removed, ...demanded].sort();
}

async function countOfRequired(db: Kysely<Schema>): Promise<number> {
  const tables = await db.introspection.getTables();
  if (!tables.some(({ name }) => name === 'required_migrations')) {
    return 0;
  }
  const { rows } = await sql`select name from required_migrations`.execute(db);
  return rows.length;
}
