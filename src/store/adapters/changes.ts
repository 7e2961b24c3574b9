import { sql } from 'kysely';
import type { ClientId, InstanceId } from '../../../generated/ids.js';
import { type ChangeStore, ENTITY_TYPES, type HeldBack } from '../../domain/directory/stores.js';
import { camelCased, type Database, type Reader } from '../database.js';
import { expireCursorsOfOtherServer, isOnOtherServer } from './lives.js';
import { isPostgres } from './statements/dialect.js';
import { keptQuery } from './statements/kept-statement.js';

/** Of digests. */
const modulus = sql.lit(2 ** 52);
/**
 * Rows of other types come from a newer release that serves this database, or did. The query leaves them out,
 * not its callers: a page of such rows only is not empty, so a reader would neither wait nor advance.
 */
const isKnown = sql<boolean>`entity_type in (${sql.join(ENTITY_TYPES.map((type) => sql.lit(type)))})`;

export function changeStore({ reader, write, clock }: Database): ChangeStore {
  const db = camelCased(reader);
  const end = endIn(reader);
  const isFinal = sql<boolean>`position < ${end}`;
  const lives = keptQuery(db, () =>
    db
      .selectFrom('changeLives')
      .select(['life', 'lastPosition', end.as('end'), isOnOtherServer(reader).as('isOnOtherServer')]),
  );
  const newestOf = keptQuery(db, (instanceId: string) =>
    db
      .selectFrom('changes')
      .where('instanceId', '=', instanceId)
      .orderBy('position', 'desc')
      .limit(1)
      .select('position'),
  );
  const newest = keptQuery(db, () =>
    db.selectFrom('changes').where(isFinal).orderBy('position', 'desc').limit(1).select('position'),
  );
  const changed = keptQuery(db, (position: number) =>
    db
      .selectFrom('changes')
      .where('position', '>', position)
      .where(isFinal)
      .groupBy('instanceId')
      .select((column) => [
        column.ref('instanceId').$castTo<InstanceId>().as('instanceId'),
        column.fn.max('position').as('position'),
      ]),
  );
  const digests = keptQuery(db, (clientId: string) =>
    db
      .selectFrom('changeDigests')
      .where('clientId', '=', clientId)
      .groupBy('entityType')
      .select('entityType as type')
      .select(sql<number>`cast(sum(entities) as bigint)`.as('entities'))
      // Sums of differences may be negative.
      .select(sql<number>`cast((sum(digest) % ${modulus} + ${modulus}) % ${modulus} as bigint)`.as('digest')),
  );
  return {
    lives: async () => {
      let rows = await lives();
      if (rows.some(({ isOnOtherServer }) => isOnOtherServer)) {
        await write((writer) => expireCursorsOfOtherServer(writer, clock()));
        rows = await lives();
      }
      return {
        lives: rows.map(({ life, lastPosition }) => ({ life, lastPosition })),
        end: Number(rows[0]?.end ?? 0),
      };
    },
    newestOf: async (instanceId) => (await newestOf(instanceId))[0]?.position ?? 0,
    page: pageIn(reader),
    digestsOf: (clientId) => digests(clientId),
    heldBack: async () => (isPostgres(reader) ? heldBackIn(reader) : undefined),
    newest: async () => (await newest())[0]?.position ?? 0,
    changedSince: async (position) => {
      const rows = await changed(position);
      return {
        instanceIds: rows.map(({ instanceId }) => instanceId),
        position: Math.max(position, ...rows.map((row) => Number(row.position))),
      };
    },
  };
}

/** Pages of all changes, and of the load of a copy, which leaves out what was removed before it. */
function pageIn(reader: Reader): ChangeStore['page'] {
  const db = camelCased(reader);
  const pages = keptQuery(
    db,
    (instanceId: string, position: number, type: string, id: string, before: number, limit: number) =>
      db
        .selectFrom('changes')
        .where('instanceId', '=', instanceId)
        .where(behind(position, type, id))
        .where('position', '<', before)
        .where(isKnown)
        .orderBy('position')
        .orderBy('entityType')
        .orderBy('entityId')
        .limit(limit)
        .select(['position', 'entityType as type', 'entityId as id', 'version', 'removed', 'changedAt'])
        .select((column) => column.ref('clientId').$castTo<ClientId>().as('clientId')),
  );
  // Otherwise both databases would take an index of all changes, and read what was removed.
  const byPresent = isPostgres(reader) ? sql`` : sql`indexed by changes_present`;
  const position = isPostgres(reader) ? sql`position + 0` : sql`position`;
  const inOrder = sql`order by position, entity_type, entity_id`;
  /** The two parts in one statement, which sees one moment: a change moves its entity to the second. */
  const pagesOfLoad = keptQuery(
    db,
    (
      instanceId: string,
      after: number,
      type: string,
      id: string,
      before: number,
      limit: number,
      removedAfter: number,
    ) => sql<Awaited<ReturnType<typeof pages>>[number]>`
      select position, entity_type as type, entity_id as id, version, removed, changed_at, client_id from (
        select * from (
          select * from changes ${byPresent} where instance_id = ${instanceId} and removed = 0
            and ${behind(after, type, id)} and ${position} <= ${removedAfter} and ${position} < ${before}
            and ${isKnown}
          ${inOrder} limit ${limit}
        ) as present
        union all
        select * from (
          select * from changes
          where instance_id = ${instanceId} and position > ${removedAfter} and position < ${before}
            and ${isKnown}
          ${inOrder} limit ${limit}
        ) as later
      ) as page ${inOrder} limit ${limit}
    `,
  );
  return async (instanceId, { after: { position, type, id }, before, removedAfter, limit }) => {
    const asked = [instanceId, position, type, id, before, limit] as const;
    const hasPassed = removedAfter === 0 || removedAfter < position;
    const rows = await (hasPassed ? pages(...asked) : pagesOfLoad(...asked, removedAfter));
    return rows.map(({ removed, ...change }) => ({ ...change, removed: removed === 1 }));
  };
}

function behind(position: number, type: string, id: string) {
  return sql<boolean>`(position, entity_type, entity_id) > (${position}, ${type}, ${id})`;
}

/**
 * The position from which on changes are not final. On PostgreSQL, that of the oldest transaction that is not
 * over: a smaller one can commit after a greater one. On SQLite, the next one.
 */
function endIn(reader: Reader) {
  return isPostgres(reader)
    ? sql<number>`(select pg_snapshot_xmin(pg_current_snapshot())::text::bigint + xid_offset from change_feed)`
    : sql<number>`(select last_position + 1 from change_feed)`;
}

const MOST_COUNTED = 10_000;

/** Of PostgreSQL. Reads a bounded part of an index. */
export async function heldBackIn(reader: Reader): Promise<HeldBack> {
  const { rows } = await sql<HeldBack>`
    select count(*)::integer as changes,
      greatest(0, floor(extract(epoch from clock_timestamp()) * 1000) - min(changed_at))::float8 as "ageMs"
    from (
      select changed_at from changes where position >= ${endIn(reader)} order by position limit ${MOST_COUNTED}
    ) as held_back
  `.execute(reader);
  const [{ changes, ageMs } = { changes: 0, ageMs: 0 }] = rows;
  return { changes, ageMs: changes === 0 ? 0 : ageMs };
}
