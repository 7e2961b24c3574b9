import { sql } from 'kysely';
import { isPostgres } from '../adapters/statements/dialect.js';
import type { Reader } from '../database.js';
import { schemaDrift } from '../migrate.js';
import { TRIGGER_PLACES } from '../migrations/triggers-0030.js';
import { CopyError } from '../store-error.js';
import { type Check, foundIn } from './check.js';

/** A statement that the database runs by itself, or in the place of another. */
interface StoredObject {
  kind: 'trigger' | 'rule';
  name: string;
  of: string;
  /** PostgreSQL only: it does not run in ordinary sessions. */
  isOff?: boolean;
}

const OURS = new Set(TRIGGER_PLACES.map(({ name, table }) => textOf({ kind: 'trigger', name, of: table })));

/** Compares names, not what the triggers do. */
export const objectsAreOurs: Check<unknown> = {
  name: 'database-objects',
  about: 'The database has the triggers of this version, all enabled, and no other triggers or rules.',
  severity: 'error',
  remedy:
    'Find out who made a foreign one, and drop it: it can suppress audit records, and keep keys and tokens valid that are revoked. If a trigger of the service is disabled, enable it (`alter table … enable trigger …`), then write all rows of clients, unit_types, units, locations, workers and users again (`update … set id = id`), because readers of changes missed what changed meanwhile. If one is missing, or if a disabled one belongs to job_titles or changes or has a name that ends in `_removed`, restore a backup.',
  find: async (reader) => {
    const { missing, newer } = await schemaDrift(reader);
    if (newer.length > 0) {
      return foundIn([], 'Not compared: a newer version has migrated the database.');
    }
    const objects = await objectsIn(reader);
    const present = objects.map(textOf);
    const off = objects.filter(({ isOff }) => isOff).map(textOf);
    const lacking = missing.length > 0 ? [] : [...OURS].filter((each) => !present.includes(each));
    return foundIn([
      ...present.filter((each) => !OURS.has(each)).map((each) => `the ${each} is not of this service`),
      ...lacking.map((each) => `the ${each} is missing`),
      ...off.filter((each) => OURS.has(each)).map((each) => `the ${each} is disabled`),
    ]);
  },
};

/** Triggers and rules that this version did not make. */
export async function foreignTriggers(reader: Reader): Promise<string[]> {
  return (await objectsIn(reader)).map(textOf).filter((each) => !OURS.has(each));
}

/** Refuses a copy that would bring triggers or rules into the restored database. */
export async function refuseForeignTriggers(reader: Reader): Promise<void> {
  const foreign = await foreignTriggers(reader);
  if (foreign.length > 0) {
    throw new CopyError(
      `The backup has the ${foreign.join(', the ')}, which this service did not make: it could keep keys valid that were revoked. Restore an older backup. Or load this one without the service, drop what is foreign there, and back that database up.`,
    );
  }
}

function textOf({ kind, name, of }: StoredObject): string {
  return `${kind} ${name} of ${of}`;
}

/** On PostgreSQL, those in the schema of the service, without what belongs to extensions. */
async function objectsIn(reader: Reader): Promise<StoredObject[]> {
  const { rows } = await (isPostgres(reader) ? ON_POSTGRES : ON_SQLITE).execute(reader);
  return rows;
}

const ON_SQLITE = sql<StoredObject>`
  select type as kind, name, tbl_name as "of" from sqlite_schema
  where type = 'trigger' order by name
`;

const ON_POSTGRES = sql<StoredObject>`
  select object.kind, object.name, relation.relname as "of", object.state not in ('O', 'A') as "isOff"
  from pg_catalog.pg_class as relation
  join (
    select 'trigger' as kind, tgname as name, tgrelid as oid, tgenabled as state from pg_catalog.pg_trigger where not tgisinternal
    union all select 'rule', rulename, ev_class, ev_enabled from pg_catalog.pg_rewrite where rulename <> '_RETURN'
  ) as object on object.oid = relation.oid
  where relation.relnamespace = (
      select relnamespace from pg_catalog.pg_class where oid = pg_catalog.to_regclass('audit_events')
    )
    and not exists (
      select 1 from pg_catalog.pg_depend
      where classid = 'pg_catalog.pg_class'::regclass and objid = relation.oid and deptype = 'e'
    )
  order by 1, 2, 3
`;
