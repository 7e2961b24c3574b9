import { isDeepStrictEqual } from 'node:util';
import { type RawBuilder, sql } from 'kysely';
import { findsAny } from '../adapters/statements/kept-statement.js';
import { tablesOf } from '../copies/copy-facts.js';
import type { Reader, Writer } from '../database.js';
import { MOVE_MARK } from '../migrate.js';
import { recordedIn } from '../recorded.js';
import { CopyError, StoreError } from '../store-error.js';
import type { MovedTable } from './catalogue.js';
import type { Moved } from './moved-file.js';

/** The type of the audit record of a move. Its time identifies the move. */
export const MOVED_TYPE = 'database.moved';

/** What a move left in the target that did not end. */
interface Mark {
  /** When the environment of the source was made: the same in all its copies. */
  environmentMadeAt: number;
  /** When the latest attempt began. */
  at: number;
}

type TargetState = 'empty' | 'moved' | Mark;

/** Refuses a target with content, unless it is of the move that `earlier` names or of an unfinished one. */
export async function stateOf(db: Reader, earlier: Moved | undefined): Promise<TargetState> {
  const tables = await tablesOf(db);
  if (tables.length === 0) {
    return 'empty';
  }
  if (tables.includes(MOVE_MARK)) {
    return markIn(db);
  }
  if (earlier !== undefined && tables.includes('audit_events')) {
    const records = db.selectFrom('audit_events').where('type', '=', MOVED_TYPE);
    if (await findsAny(records.where('created_at', '=', earlier.at).select('id'))) {
      return 'moved';
    }
  }
  const { environment, issuer } = await recordedIn(db);
  throw new StoreError(
    environment === undefined
      ? `The PostgreSQL database is not empty: it contains the table ${tables[0]}. Move into a new database.`
      : `The PostgreSQL database is already in use, by the ${environment} environment of ${issuer ?? 'no issuer yet'}. Move into a new database.`,
  );
}

/** Waits for the transaction of a killed attempt, which the server may not have ended yet. */
async function markIn(db: Reader): Promise<Mark> {
  const { rows } = await sql<{ environment_made_at: number; since: number }>`
    select environment_made_at, since from ${sql.table(MOVE_MARK)}
  `.execute(db);
  return { environmentMadeAt: Number(rows[0]?.environment_made_at), at: Number(rows[0]?.since) };
}

/** From here on no service starts on the target. */
export async function markTarget(db: Reader, { environmentMadeAt, at }: Mark): Promise<void> {
  await db.transaction().execute(async (writer) => {
    await sql`
      create table if not exists ${sql.table(MOVE_MARK)} (environment_made_at bigint, since bigint)
    `.execute(writer);
    await sql`delete from ${sql.table(MOVE_MARK)}`.execute(writer);
    await sql`insert into ${sql.table(MOVE_MARK)} values (${environmentMadeAt}, ${at})`.execute(writer);
  });
  // Since the first look, a service may have started on the database.
  const others = (await tablesOf(db)).includes('environment')
    ? await db.selectFrom('environment').select('name').execute()
    : [];
  if (others.length > 0) {
    await db.schema.dropTable(MOVE_MARK).execute();
    throw new StoreError(
      'A service has just started on the PostgreSQL database. Stop it, and move into a new database.',
    );
  }
}

/** Excludes other attempts until the end of the transaction. */
export async function lockMark(writer: Writer, at: number): Promise<void> {
  await sql`lock table ${sql.table(MOVE_MARK)} in access exclusive mode`.execute(writer);
  const mark = await markIn(writer);
  if (mark.at !== at) {
    throw new CopyError('Another run of the command has just begun on this PostgreSQL database.');
  }
  // A role may have `off`: then a crash of the server could lose a move after the source was given up.
  await sql`set local synchronous_commit = on`.execute(writer);
}

export async function refuseOtherEncoding(db: Reader): Promise<void> {
  const { rows } = await sql<{ encoding: string }>`
    select pg_encoding_to_char(encoding) as encoding from pg_database where datname = current_database()
  `.execute(db);
  if (rows[0]?.encoding !== 'UTF8') {
    throw new StoreError(
      `The PostgreSQL database has the encoding ${rows[0]?.encoding}. Make one with UTF8: createdb --encoding=UTF8 --template=template0 …`,
    );
  }
}

export async function refuseRows(writer: Writer, tables: readonly MovedTable[]): Promise<void> {
  for (const { name } of tables) {
    const { rows } = await sql`select 1 from ${sql.table(name)} limit 1`.execute(writer);
    if (rows.length > 0) {
      throw new CopyError(
        `The table ${name} of PostgreSQL has rows of another origin. Move into a new database.`,
      );
    }
  }
}

interface Aside {
  drop: string;
  create: string;
}

/** Removes the rows that the migrations write into an empty database. */
export async function removeBeginnings(writer: Writer): Promise<void> {
  for (const table of ['change_feed', 'change_lives', 'required_migrations']) {
    await sql`delete from ${sql.table(table)}`.execute(writer);
  }
}

/**
 * Runs `fill` without references, indexes and triggers and restores them: rows may then come in any order,
 * PostgreSQL builds each index once and checks each reference once, and what triggers write is moved, too.
 */
export async function withoutIndexes(writer: Writer, fill: () => Promise<void>): Promise<void> {
  const found = async (query: RawBuilder<Aside>) => (await query.execute(writer)).rows;
  const references = await found(REFERENCES);
  const indexes = await found(INDEXES);
  const triggers = await found(TRIGGERS);
  for (const { drop } of [...references, ...indexes, ...triggers]) {
    await sql.raw(drop).execute(writer);
  }
  await fill();
  for (const { create } of [...indexes, ...references, ...triggers]) {
    await sql.raw(create).execute(writer);
  }
  const restored = [await found(REFERENCES), await found(INDEXES)];
  if (!isDeepStrictEqual(restored, [references, indexes])) {
    throw new Error('The references and indexes of PostgreSQL were not restored as they were.');
  }
}

const REFERENCES = sql<Aside>`
  select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
    format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as create
  from pg_constraint
  where contype = 'f' and conparentid = 0
    and connamespace = (select oid from pg_namespace where nspname = current_schema())
  order by 1
`;

/** Those of the migrations. */
const TRIGGERS = sql<Aside>`
  select format('alter table %s disable trigger %I', tgrelid::regclass, tgname) as drop,
    format('alter table %s enable trigger %I', tgrelid::regclass, tgname) as create
  from pg_trigger inner join pg_class on pg_class.oid = tgrelid
  where tgname like 'changes\_%'
    and relnamespace = (select oid from pg_namespace where nspname = current_schema())
  order by 1
`;

/** Without those of primary keys and other constraints. */
const INDEXES = sql<Aside>`
  select format('drop index %s', indexrelid::regclass) as drop, pg_get_indexdef(indexrelid) as create
  from pg_index join pg_class as class on class.oid = indrelid
  where class.relnamespace = (select oid from pg_namespace where nspname = current_schema())
    and class.relkind in ('r', 'p') and not class.relispartition
    and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
  order by 1
`;
