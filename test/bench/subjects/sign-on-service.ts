import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import { Sqlite } from '../../../src/store/better-sqlite3.js';
import { exchange } from '../../support/http-exchange.js';
import type { Target, Variant } from '../load/questions.js';
import { ask } from './postgres.js';
import { databaseIn, dataDirIn, type RunningService } from './service.js';
import type { SignOnSubject } from './sign-on-subject.js';

const CODE_LIFETIME_MS = 600_000;
const MINUTE_MS = 60_000;
const EXCHANGED_AT_ONCE = 32;
const SCOPES = 'openid profile email';

/** With DATABASE_URL where the service is on PostgreSQL. */
type Settings = RunningService['env'];

/** An application of the demo, and people who can sign in to it. */
export interface DemoApplication {
  clientId: string;
  clientSecret: string;
  redirectUri: string;
  instanceId: string;
  people: { accountId: string; employerId: string }[];
}

/**
 * The confidential application with all its people on one instance and without consent. They are the same in
 * a database that has moved to PostgreSQL.
 */
export function demoApplication(workplace: string): DemoApplication {
  const { applications } = JSON.parse(readFileSync(join(dataDirIn(workplace), 'demo.json'), 'utf8')) as {
    applications: {
      clientId: string;
      clientSecret?: string;
      redirectUris: { uri: string; instanceId: string }[];
    }[];
  };
  return reading(workplace, (database) => {
    const firstParty = database.prepare('SELECT id FROM applications WHERE first_party = 1').pluck().all();
    const found = applications.find(
      ({ clientId, clientSecret }) => clientSecret !== undefined && firstParty.includes(clientId),
    );
    const target = found?.redirectUris[0];
    if (!found?.clientSecret || !target) {
      throw new Error('The demo has no confidential first-party application.');
    }
    const people = database
      .prepare(
        `SELECT workers.account_id AS accountId, min(workers.client_id) AS employerId FROM workers JOIN clients ON clients.id = workers.client_id
         WHERE clients.instance_id = ? AND workers.offboarded_at IS NULL AND workers.account_id NOT IN (SELECT account_id FROM users)
         GROUP BY workers.account_id HAVING count(*) = 1`,
      )
      .all(target.instanceId) as DemoApplication['people'];
    const { clientId, clientSecret } = found;
    return { clientId, clientSecret, redirectUri: target.uri, instanceId: target.instanceId, people };
  });
}

/** Ours with what a sign-in leaves behind, written into its database as the service itself writes it. */
export function signOnService(
  workplace: string,
  { signOnPort, env = {} }: Pick<RunningService, 'signOnPort'> & Partial<Pick<RunningService, 'env'>>,
  { codeChallenge, codeVerifier }: { codeChallenge: string; codeVerifier: string },
): SignOnSubject {
  const application = demoApplication(workplace);
  const credentials = { client_id: application.clientId, client_secret: application.clientSecret };
  const token = {
    host: '127.0.0.1',
    port: signOnPort,
    method: 'POST' as const,
    path: '/auth/token',
    headers: { 'content-type': 'application/json' },
    expectStatus: 200,
  };
  const codeExchanges = async (count: number): Promise<Target> => ({
    ...token,
    use: 'once',
    variants: (await plantCodes(workplace, env, application, count, codeChallenge)).map((code) => ({
      body: JSON.stringify({
        grant_type: 'authorization_code',
        code,
        redirect_uri: application.redirectUri,
        code_verifier: codeVerifier,
        ...credentials,
      }),
    })),
  });
  const exchangeOne = async ({ body = '' }: Variant) => {
    const answer = await exchange(signOnPort, token.path, { method: 'POST', headers: token.headers, body });
    if (answer.status !== 200) {
      throw new Error(`An exchange was refused: ${answer.body}`);
    }
    return JSON.parse(answer.body) as { access_token: string; refresh_token: string };
  };
  const tokens = async (count: number) => {
    const { variants = [] } = await codeExchanges(count);
    const made: Awaited<ReturnType<typeof exchangeOne>>[] = [];
    for (let from = 0; from < count; from += EXCHANGED_AT_ONCE) {
      made.push(...(await Promise.all(variants.slice(from, from + EXCHANGED_AT_ONCE).map(exchangeOne))));
    }
    return made;
  };
  return {
    codeExchanges,
    refreshes: async (count) => ({
      ...token,
      use: 'refresh',
      variants: (await tokens(count)).map(({ refresh_token }) => ({
        body: JSON.stringify({ grant_type: 'refresh_token', refresh_token, ...credentials }),
      })),
    }),
    userinfos: async (count) => ({
      ...token,
      method: 'GET',
      path: '/auth/userinfo',
      headers: {},
      variants: (await tokens(count)).map(({ access_token }) => ({
        headers: { authorization: `Bearer ${access_token}` },
      })),
    }),
  };
}

async function plantCodes(
  workplace: string,
  { DATABASE_URL }: Settings,
  { clientId, redirectUri, instanceId, people }: DemoApplication,
  count: number,
  codeChallenge: string,
): Promise<string[]> {
  const now = Date.now();
  const codes = Array.from({ length: count }, () => randomBytes(32).toString('base64url'));
  const rowOf = (code: string, person: DemoApplication['people'][number] | undefined) => ({
    hash: createHash('sha256').update(code).digest('base64url'),
    grant_id: randomBytes(16).toString('base64url'),
    application_id: clientId,
    account_id: person?.accountId,
    instance_id: instanceId,
    redirect_uri: redirectUri,
    scopes: SCOPES,
    code_challenge: codeChallenge,
    nonce: 'n-0S6_WzA2MjrJ8kQe',
    requested_claims: '{"authTime":false}',
    context_user_type: 'WORKER',
    context_client_id: person?.employerId,
    authenticated_at: now,
    status: 'ISSUED',
    issued_at: now,
    minute: now - (now % MINUTE_MS),
    expires_at: now + CODE_LIFETIME_MS,
  });
  const rows = codes.map((code, index) => rowOf(code, people[index % people.length]));
  const names = Object.keys(rows[0] ?? {});
  const insert = `INSERT INTO authorization_codes (${names.join()})`;
  if (DATABASE_URL !== undefined) {
    const select = `SELECT ${names.join()} FROM jsonb_populate_recordset(NULL::authorization_codes, $1)`;
    await ask(DATABASE_URL, `${insert} ${select}`, [JSON.stringify(rows)]);
    return codes;
  }
  writing(workplace, (database) => {
    const inserting = database.prepare(`${insert} VALUES (${names.map((name) => `@${name}`).join()})`);
    for (const row of rows) {
      inserting.run(row);
    }
  });
  return codes;
}

/** So many grants and redeemed codes of other people, as years of use leave them behind. */
export function plantUsedGrants(workplace: string, count: number): void {
  const now = Date.now();
  const { clientId, instanceId, redirectUri, people } = demoApplication(workplace);
  writing(workplace, (database) => {
    const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})`;
    const accountId = `(SELECT value FROM json_each(@accounts) WHERE key = n % ${people.length})`;
    const values = { clientId, instanceId, redirectUri, now, accounts: JSON.stringify(accountIdsOf(people)) };
    database
      .prepare(
        `INSERT INTO grants (id, application_id, account_id, instance_id, scopes, authenticated_at, generation, rotated_at,
           refresh_expires_at, expires_at, revoked_at)
         ${numbers} SELECT hex(randomblob(11)), @clientId, ${accountId}, @instanceId, '${SCOPES}', @now, 1, @now,
           @now + 86400000, @now + 86400000, NULL FROM numbers`,
      )
      .run(without(values, 'redirectUri'));
    database
      .prepare(
        `INSERT INTO authorization_codes (hash, grant_id, application_id, account_id, instance_id, redirect_uri, scopes, code_challenge, nonce,
           requested_claims, context_user_type, context_client_id, authenticated_at, status, issued_at, minute, expires_at)
         ${numbers} SELECT hex(randomblob(21)), hex(randomblob(11)), @clientId, ${accountId}, @instanceId, @redirectUri, '${SCOPES}', NULL, NULL,
           '{"authTime":false}', 'WORKER', '', @now, 'REDEEMED', @now, @now - n * 1000, @now + 600000 FROM numbers`,
      )
      .run(values);
  });
}

export function accountIdsOf(people: DemoApplication['people']): string[] {
  return people.map(({ accountId }) => accountId);
}

/** Lets these people sign in with a password of this hash. */
export function plantPasswords(workplace: string, accountIds: readonly string[], hash: string): void {
  writing(workplace, (database) => {
    const insert = database.prepare(
      `INSERT INTO passwords (account_id, hash, set_at) VALUES (?, ?, ?)
       ON CONFLICT (account_id) DO UPDATE SET hash = excluded.hash`,
    );
    for (const accountId of accountIds) {
      insert.run(accountId, hash, Date.now());
    }
  });
}

export function emailsOf(workplace: string, accountIds: readonly string[]): string[] {
  return reading(workplace, (database) => {
    const find = database.prepare('SELECT email FROM accounts WHERE id = ?').pluck();
    return accountIds.map((id) => find.get(id) as string);
  });
}

export async function setIdTokenAlgorithm(
  workplace: string,
  { DATABASE_URL }: Settings,
  algorithm: string,
): Promise<void> {
  if (DATABASE_URL !== undefined) {
    await ask(DATABASE_URL, 'UPDATE applications SET id_token_algorithm = $1', [algorithm]);
    return;
  }
  writing(workplace, (database) => {
    database.prepare('UPDATE applications SET id_token_algorithm = ?').run(algorithm);
  });
}

function without<T extends object, K extends keyof T>(values: T, name: K): Omit<T, K> {
  const { [name]: _, ...rest } = values;
  return rest;
}

function reading<T>(workplace: string, work: (database: BetterSqlite3.Database) => T): T {
  const database = new Sqlite(databaseIn(workplace), { readonly: true });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/** In one transaction, waiting for the service to let it in. */
function writing(workplace: string, work: (database: BetterSqlite3.Database) => void): void {
  const database = new Sqlite(databaseIn(workplace), { timeout: 30_000 });
  try {
    database.transaction(() => work(database)).immediate();
  } finally {
    database.close();
  }
}
