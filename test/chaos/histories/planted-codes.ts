import { sql } from 'kysely';
import type { AccountId, ApplicationId, ClientId, InstanceId } from '../../../generated/ids.js';
import { newRowId, newSecret, storedHash } from '../../../src/identifiers/random-secrets.js';
import { codeRows } from '../../../src/store/adapters/sign-on/codes.js';
import type { Database } from '../../../src/store/database.js';
import { type AttackedService, type FreshCode, redirectUriOf } from '../../attacks/attacked-service.js';
import { newPkce } from '../../attacks/user-agent.js';

/** No code expires in a run. */
const LIFETIME_MS = 24 * 3_600_000;
const PEOPLE = 100;

export interface PlantedCode extends FreshCode {
  hash: string;
  /** Of the grant that its redemption makes. */
  grantId: string;
}

/** Writes codes as a sign-in does: one person could sign in only so often. */
export async function codePlanter(
  database: Database,
  { dashboard: application }: AttackedService,
): Promise<(number: number) => Promise<PlantedCode>> {
  const instanceId = application.redirectUris[0]?.instanceId as InstanceId;
  const people = await peopleOf(database, instanceId);
  const redirectUri = redirectUriOf(application);
  return async (number) => {
    const { accountId, clientId } = people[number % people.length] as Person;
    const [code, grantId] = [newSecret(), newRowId()];
    const hash = storedHash(code);
    const { verifier, challenge } = newPkce();
    const now = Date.now();
    await database.write((writer) =>
      codeRows(writer).insert({
        hash,
        grantId,
        applicationId: application.clientId as ApplicationId,
        accountId,
        instanceId,
        redirectUri,
        scopes: ['openid', 'profile', 'email'],
        codeChallenge: challenge,
        nonce: null,
        context: { userType: 'WORKER', clientId },
        authenticatedAt: now,
        sessionId: null,
        status: 'ISSUED',
        issuedAt: now,
        expiresAt: now + LIFETIME_MS,
      }),
    );
    return { application, code, verifier, redirectUri, hash, grantId };
  };
}

interface Person {
  accountId: AccountId;
  clientId: ClientId;
}

/** Workers with one context there. */
async function peopleOf({ reader }: Database, instanceId: InstanceId): Promise<Person[]> {
  const { rows } = await sql<Person>`
    select workers.account_id as "accountId", min(workers.client_id) as "clientId"
    from workers join clients on clients.id = workers.client_id
    where clients.instance_id = ${instanceId} and workers.offboarded_at is null
      and workers.account_id not in (select account_id from users)
    group by workers.account_id having count(*) = 1 limit ${PEOPLE}`.execute(reader);
  return rows;
}
