import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type {
  CredentialKind,
  ExpiringCredential,
  ExpiryStore,
  Tenths,
} from '../../domain/maintenance/expiry.js';
import { newRecordId } from '../../identifiers/record-id.js';
import type { Database, Writer } from '../database.js';
import { changedOne, findsAny } from './statements/kept-statement.js';

const DAY_MS = 86_400_000;

/**
 * Valid credentials with an expiry: their table, and the column that says what they belong to. The `+` keeps
 * SQLite from the index on `revoked_at`: the one on `expires_at` finds the first without a sort.
 */
const CREDENTIALS: Record<CredentialKind, { from: RawBuilder<unknown>; of: string }> = {
  api_key: { from: sql`api_keys as held where +revoked_at is null`, of: 'integration_id' },
  service_token: { from: sql`service_tokens as held where +revoked_at is null`, of: 'kind' },
  client_secret: { from: sql`application_secrets as held where 1 = 1`, of: 'application_id' },
  webhook_secret: { from: sql`subscription_secrets as held where 1 = 1`, of: 'subscription_id' },
};
const KINDS = Object.keys(CREDENTIALS) as CredentialKind[];

export function expiryStore({ reader, write }: Database): ExpiryStore {
  return {
    expiring: (after, until, limit) => found(reader, { after, until, limit }),
    next: async (now, failingAfter) => {
      const { rows } = await sql<{ kind: CredentialKind | 'failing_since'; expiresAt: number }>`
        ${endingIn({ after: now, until: Number.MAX_SAFE_INTEGER, limit: 1 })}
        union all select * from (
          select 'failing_since' as kind, id, '' as "of", failing_since from subscriptions
          where failing_since > ${failingAfter} and status = 'ACTIVE' order by failing_since limit 1
        ) as failing
      `.execute(reader);
      return Object.fromEntries(rows.map(({ kind, expiresAt }) => [kind, expiresAt]));
    },
    toWarnOf: (after, until, days, limit) => found(reader, { after, until, limit, days }),
    noteWarning: ({ kind, id, expiresAt }, days) =>
      write(async (writer) => {
        const warning = writer
          .insertInto('expiry_warnings')
          .values({ kind, id, expires_at: expiresAt, days })
          .onConflict((conflict) => conflict.doNothing());
        return changedOne(await writer.executeQuery(warning));
      }),
    forgetWarnings: async (before) => {
      const over = reader.selectFrom('expiry_warnings').where('expires_at', '<', before);
      if (await findsAny(over.select('id'))) {
        await write((writer) =>
          writer.deleteFrom('expiry_warnings').where('expires_at', '<', before).execute(),
        );
      }
    },
    failing: (since, tenths, limit) =>
      toWarn(reader.selectFrom('subscriptions'), since, tenths)
        .orderBy('failing_since')
        .limit(limit)
        .select(['id', 'failing_since as failingSince'])
        .$narrowType<{ failingSince: number }>()
        .execute(),
    warnOfFailure: ({ id, failingSince, tenths, disabledFrom }, now) =>
      write(async (writer) => {
        const warned = toWarn(writer.updateTable('subscriptions'), failingSince, tenths)
          .where('id', '=', id)
          .where('failing_since', '=', failingSince)
          .set({ warned_failing_since: failingSince, warned_tenths: tenths });
        if (!changedOne(await writer.executeQuery(warned))) {
          return undefined;
        }
        const contact = await contactOf(writer, id);
        if (contact) {
          await writer
            .insertInto('integration_notices')
            .values({
              id: newRecordId('inc'),
              kind: tenths === 5 ? 'failing_half' : 'failing_nine_tenths',
              integration_id: contact.id,
              subscription_id: id,
              email: contact.email,
              failing_since: failingSince,
              disabled_from: disabledFrom,
              created_at: now,
            })
            .execute();
        }
        return { hasContact: contact !== undefined };
      }),
  };
}

interface Search {
  after: number;
  until: number;
  /** Of each kind, and of all. */
  limit: number;
  days?: number;
}

/** Those with an expiry, soonest first: by index of each kind, then merged. */
async function found(reader: Database['reader'], search: Search): Promise<ExpiringCredential[]> {
  const { rows } = await sql<ExpiringCredential>`
    select * from (${endingIn(search)}) as ending order by ${sql.ref('expiresAt')}, id limit ${search.limit}
  `.execute(reader);
  return rows;
}

function endingIn(search: Search): RawBuilder<unknown> {
  const ofEach = KINDS.map((kind) => ofKind(kind, search));
  return sql.join(ofEach, sql` union all `);
}

function ofKind(kind: CredentialKind, { after, until, limit, days }: Search): RawBuilder<unknown> {
  const { from, of } = CREDENTIALS[kind];
  const unwarned =
    days === undefined
      ? sql``
      : sql`and held.expires_at - held.created_at > ${days * DAY_MS} and not exists (
          select 1 from expiry_warnings where expiry_warnings.kind = ${sql.lit(kind)}
          and expiry_warnings.id = held.id and expiry_warnings.expires_at = held.expires_at
          and expiry_warnings.days <= ${days}
        )`;
  return sql`
    select * from (
      select ${sql.lit(kind)} as kind, held.id, ${sql.ref(`held.${of}`)} as ${sql.ref('of')},
        held.expires_at as ${sql.ref('expiresAt')}
      from ${from} and held.expires_at > ${after} and held.expires_at <= ${until} ${unwarned}
      order by held.expires_at limit ${limit}
    ) as ${sql.ref(kind)}
  `;
}

/** The condition of a warning. The update that records the warning repeats it: only one node warns. */
function toWarn<Query extends { where(condition: RawBuilder<SqlBool>): Query }>(
  query: Query,
  since: number,
  tenths: Tenths,
): Query {
  return query.where(sql<SqlBool>`
    status = 'ACTIVE' and failing_since is not null and failing_since <= ${since} and (
      warned_failing_since is null or warned_failing_since <> failing_since or warned_tenths < ${tenths}
    )
  `);
}

function contactOf(writer: Writer, subscriptionId: string) {
  return writer
    .selectFrom('subscriptions')
    .innerJoin('instance_integrations', 'instance_integrations.id', 'subscriptions.instance_integration_id')
    .innerJoin('integrations', 'integrations.id', 'instance_integrations.integration_id')
    .where('subscriptions.id', '=', subscriptionId)
    .where('integrations.contact_email', 'is not', null)
    .select(['integrations.id', 'integrations.contact_email as email'])
    .$narrowType<{ email: string }>()
    .executeTakeFirst();
}
