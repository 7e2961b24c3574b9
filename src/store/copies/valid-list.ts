import { sql } from 'kysely';
import { UNMATCHED_HASH } from '../../domain/credentials/passwords.js';
import { MAY_SIGN_IN } from '../../domain/directory/names.js';
import { storedHash } from '../../identifiers/random-secrets.js';
import type { Reader } from '../database.js';

/** Expiry time by id; null if the item does not expire. */
export type Ends = Record<string, number | null>;

/** The ids of all valid items at a point in time. An older copy may contain items that have ended since. */
export interface ValidList {
  apiKeys: Ends;
  serviceTokens: Ends;
  clientSecrets: Ends;
  /** Enabled. */
  applications: string[];
  /** Enabled. */
  accounts: string[];
  /** The time when the password was set, by account; without passwords that a restore removed. */
  passwords: Record<string, number>;
  /** Users and workers who belong to a client. */
  members: string[];
  subscriptions: string[];
  signingKeys: string[];
  /** A hash of the email address, by account. */
  emails: Record<string, string>;
  /** Configured. */
  instanceIntegrations: string[];
  subscriptionSecrets: Ends;
  /** Pairs of instance and URI, by application. */
  redirectUris: Lists;
  scopes: Lists;
  grantTypes: Lists;
  postLogoutRedirectUris: Lists;
}

type Lists = Record<string, string[]>;

/** The columns of these lists in the table `applications`. */
export const applicationLists = {
  scopes: 'allowed_scopes',
  grantTypes: 'allowed_grant_types',
  postLogoutRedirectUris: 'post_logout_redirect_uris',
} as const;

export async function validIn(reader: Reader, now: number): Promise<ValidList> {
  const passwords = await reader
    .selectFrom('passwords')
    .where('hash', '<>', UNMATCHED_HASH)
    .select(['account_id', 'set_at'])
    .execute();
  return {
    apiKeys: await endsIn(reader, 'api_keys', sql`revoked_at is null and ${unexpired(now)}`),
    serviceTokens: await endsIn(reader, 'service_tokens', sql`revoked_at is null and ${unexpired(now)}`),
    clientSecrets: await endsIn(reader, 'application_secrets', unexpired(now)),
    applications: await ids(reader, 'applications', sql`enabled = 1`),
    accounts: await ids(reader, 'accounts', sql`disabled_at is null`),
    passwords: Object.fromEntries(passwords.map(({ account_id, set_at }) => [account_id, Number(set_at)])),
    members: [
      ...(await ids(reader, 'users', sql`status in (${sql.join(MAY_SIGN_IN)})`)),
      ...(await ids(reader, 'workers', sql`offboarded_at is null`)),
    ],
    subscriptions: await ids(reader, 'subscriptions', sql`status = 'ACTIVE'`),
    signingKeys: await ids(reader, 'signing_keys', sql`retired_at is null`, 'kid'),
    emails: await emailsIn(reader),
    instanceIntegrations: await ids(reader, 'instance_integrations', sql`configured_at is not null`),
    subscriptionSecrets: await endsIn(reader, 'subscription_secrets', unexpired(now)),
    ...(await applicationsIn(reader)),
  };
}

export function unexpired(now: number) {
  return sql<boolean>`(expires_at is null or expires_at > ${now})`;
}

/** What only the first list has. */
export function without(list: readonly string[], others: readonly string[] = []): string[] {
  const excluded = new Set(others);
  return list.filter((each) => !excluded.has(each));
}

async function endsIn(reader: Reader, table: string, condition: ReturnType<typeof sql>): Promise<Ends> {
  const { rows } = await sql<{ id: string; expires_at: number | null }>`
    select id, expires_at from ${sql.table(table)} where ${condition} order by id
  `.execute(reader);
  return Object.fromEntries(rows.map(({ id, expires_at }) => [id, expires_at && Number(expires_at)]));
}

/** Hashes, because a list is not encrypted and comparing needs no addresses. */
async function emailsIn(reader: Reader): Promise<Record<string, string>> {
  const rows = await reader.selectFrom('accounts').select(['id', 'email_key']).orderBy('id').execute();
  return Object.fromEntries(rows.map(({ id, email_key }) => [id, storedHash(`${id} ${email_key}`)]));
}

async function applicationsIn(
  reader: Reader,
): Promise<Pick<ValidList, 'redirectUris' | keyof typeof applicationLists>> {
  const applications = await reader.selectFrom('applications').selectAll().orderBy('id').execute();
  const uris = await reader.selectFrom('application_redirect_uris').selectAll().orderBy('uri').execute();
  const byId = (listOf: (application: (typeof applications)[number]) => string[]) =>
    Object.fromEntries(applications.map((each) => [each.id, listOf(each)]));
  return {
    redirectUris: byId(({ id }) =>
      uris
        .filter((each) => each.application_id === id)
        .map(({ instance_id, uri }) => `${instance_id} ${uri}`),
    ),
    scopes: byId(({ allowed_scopes }) => JSON.parse(allowed_scopes)),
    grantTypes: byId(({ allowed_grant_types }) => JSON.parse(allowed_grant_types)),
    postLogoutRedirectUris: byId(({ post_logout_redirect_uris }) => JSON.parse(post_logout_redirect_uris)),
  };
}

async function ids(
  reader: Reader,
  table: string,
  condition: ReturnType<typeof sql>,
  key = 'id',
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select ${sql.ref(key)} as id from ${sql.table(table)} where ${condition} order by 1
  `.execute(reader);
  return rows.map(({ id }) => id);
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isTime = (value: unknown) => Number.isSafeInteger(value);
const isEnd = (value: unknown) => value === null || isTime(value);
const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText);
/** Of ids without a value. */
const isAbsent = (value: unknown) => value === undefined;

/** For each part, what a value must be. */
const VALUES: Record<keyof ValidList, (value: unknown) => boolean> = {
  ...{ apiKeys: isEnd, serviceTokens: isEnd, clientSecrets: isEnd, subscriptionSecrets: isEnd },
  ...{ applications: isAbsent, accounts: isAbsent, members: isAbsent, subscriptions: isAbsent },
  ...{ signingKeys: isAbsent, instanceIntegrations: isAbsent, passwords: isTime, emails: isText },
  ...{ redirectUris: isTexts, scopes: isTexts, grantTypes: isTexts, postLogoutRedirectUris: isTexts },
};

const partNames = Object.keys(VALUES) as (keyof ValidList)[];

/** The items of a list, one after the other: part, id and value. */
export function* itemsOf(valid: ValidList): Generator<unknown[]> {
  for (const part of partNames) {
    const items = valid[part];
    if (Array.isArray(items)) {
      for (const id of items) {
        yield [part, id];
      }
    } else {
      for (const id in items) {
        yield [part, id, items[id]];
      }
    }
  }
}

export function countsOf(valid: ValidList): Record<string, number> {
  return Object.fromEntries(partNames.map((part) => [part, Object.keys(valid[part]).length]));
}

/** Makes a list of its items. An item that is added twice counts once. */
export class ListedItems {
  readonly #parts = new Map<unknown, Map<string, unknown>>(partNames.map((part) => [part, new Map()]));

  /** Returns false for what is not an item. */
  add([part, id, value]: readonly unknown[]): boolean {
    const items = this.#parts.get(part);
    if (items === undefined || !isText(id) || !VALUES[part as keyof ValidList](value)) {
      return false;
    }
    items.set(id, value);
    return true;
  }

  list(): ValidList {
    const parts = partNames.map((part) => {
      const items = this.#parts.get(part) ?? [];
      return [part, VALUES[part] === isAbsent ? Array.from(items, ([id]) => id) : Object.fromEntries(items)];
    });
    return Object.fromEntries(parts);
  }
}
