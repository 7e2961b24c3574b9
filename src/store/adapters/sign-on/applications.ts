import { sql } from 'kysely';
import type { AccountId } from '../../../../generated/ids.js';
import { MAY_SIGN_IN } from '../../../domain/directory/names.js';
import type { Entrance } from '../../../domain/sign-on/sessions/browser.js';
import type { KnownApplicationRows, KnownSecret } from '../../../domain/sign-on/sign-on.js';
import { camelCased, type Rows, type Writer } from '../../database.js';
import { markUsed } from '../access.js';
import { toApplication } from '../operator/applications.js';
import { statement } from '../statements/kept-statement.js';

/** One row per secret of the application; a single row without a secret if it has none. */
const withSecrets = statement((db, { id }: { id: string }) =>
  db
    .selectFrom('applications')
    .leftJoin('applicationSecrets as secret', 'secret.applicationId', 'applications.id')
    .where('applications.id', '=', id)
    .orderBy('secret.createdAt')
    .orderBy('secret.id')
    .selectAll('applications')
    .select(['secret.id as secretId', 'secret.hash as secretHash', 'secret.createdAt as secretCreatedAt'])
    .select(['secret.expiresAt as secretExpiresAt', 'secret.lastUsedAt as secretLastUsedAt']),
);

const redirectUrisOf = statement((db, { id }: { id: string }) =>
  db.selectFrom('applicationRedirectUris').where('applicationId', '=', id).orderBy('position').selectAll(),
);

export function knownApplicationRows(writer: Writer): KnownApplicationRows {
  const db = camelCased(writer);
  return {
    find: async (id) => {
      const [{ rows }, redirectUris] = await Promise.all([
        withSecrets(db, { id }),
        redirectUrisOf(db, { id }),
      ]);
      return (
        rows[0] && {
          ...toApplication(rows[0], { redirectUris: redirectUris.rows, secrets: [] }),
          secrets: rows.flatMap(toSecret),
        }
      );
    },
    entrancesOf: (accountId, limit) => entrancesOf(db, accountId, limit),
    markSecretUsed: (id, at, unlessSince) => markUsed(db, 'applicationSecrets', { id, at, unlessSince }),
  };
}

/** Admits the same people as the sign-in. */
async function entrancesOf(db: Rows, accountId: AccountId, limit: number): Promise<Entrance[]> {
  const { rows } = await sql<Entrance>`
    with joined (client_id) as (
      select client_id from users
      where account_id = ${accountId} and status in (${sql.join(MAY_SIGN_IN)}) and status <> 'DELETED'
      union select client_id from workers where account_id = ${accountId} and offboarded_at is null
    ), places (id) as (
      select distinct instance_id from clients where id in (select client_id from joined)
    )
    select applications.id as application_id, places.id as instance_id
    from places cross join applications
    where applications.enabled = 1
      and exists (
        select 1 from application_redirect_uris as returning_to
        where returning_to.application_id = applications.id and returning_to.instance_id = places.id
      )
    order by case when applications.initiate_login_uri is null then 1 else 0 end,
      applications.first_party desc, applications.name, applications.id, places.id
    limit ${limit}
  `.execute(db);
  return rows;
}

function toSecret(row: Awaited<ReturnType<typeof withSecrets>>['rows'][number]): KnownSecret[] {
  const { secretId: id, secretHash: hash, secretCreatedAt: createdAt } = row;
  if (id === null || hash === null || createdAt === null) {
    return [];
  }
  return [{ id, hash, createdAt, expiresAt: row.secretExpiresAt, lastUsedAt: row.secretLastUsedAt }];
}
