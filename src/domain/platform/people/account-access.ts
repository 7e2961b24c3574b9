import type { AccountId } from '../../../../generated/ids.js';
import {
  type Consent,
  type ConsentKey,
  endAccessOf,
  type Grant,
  type Session,
} from '../../credentials/access.js';
import { unknownCursor } from '../../directory/page.js';
import type { Actor } from '../../operator/audit.js';
import { type Listing, textPage } from '../listing.js';
import type { Changes, PlatformRows } from '../unit-of-work.js';
import { getAccount } from './accounts.js';

/** What lets a person, or an application in their name, in. */
export type Access =
  | { kind: 'session'; row: Session }
  | { kind: 'consent'; row: Consent }
  | { kind: 'grant'; row: Grant };

type Rows = Pick<PlatformRows, 'accounts' | 'consents' | 'grants' | 'sessions'>;
type Read = (rows: Rows, accountId: AccountId, after: string, limit: number) => Promise<Access[]>;

/** In the order of the list. */
const READS: Readonly<Record<Access['kind'], Read>> = {
  session: async ({ sessions }, accountId, after, limit) =>
    (await sessions.page(accountId, after, limit)).map((row) => ({ kind: 'session', row })),
  consent: async ({ consents }, accountId, after, limit) => {
    const [applicationId, instanceId] = after.split('/') as [ConsentKey['applicationId'], ...never[]];
    const place = instanceId === undefined ? undefined : { applicationId, instanceId };
    return (await consents.page(accountId, place, limit)).map((row) => ({ kind: 'consent', row }));
  },
  grant: async ({ grants }, accountId, after, limit) =>
    (await grants.page(accountId, after, limit)).map((row) => ({ kind: 'grant', row })),
};

/** A page of the sessions, consents and grants of a person that are stored, ended ones included. */
export async function accountAccess(
  rows: Rows,
  id: string,
  listing: Listing,
): Promise<{ rows: Access[]; nextPageToken: string }> {
  const { id: accountId } = await getAccount(rows, id);
  return textPage(
    listing,
    (after = 'session:', limit) => accessAfter(rows, accountId, after, limit),
    placeOf,
  );
}

async function accessAfter(
  rows: Rows,
  accountId: AccountId,
  place: string,
  limit: number,
): Promise<Access[]> {
  const [, kind, after = ''] = /^(session|consent|grant):(.*)$/s.exec(place) ?? [];
  if (kind === undefined) {
    throw unknownCursor('page_token');
  }
  const kinds = Object.keys(READS) as Access['kind'][];
  const found: Access[] = [];
  for (const each of kinds.slice(kinds.indexOf(kind as Access['kind']))) {
    if (found.length < limit) {
      found.push(...(await READS[each](rows, accountId, each === kind ? after : '', limit - found.length)));
    }
  }
  return found;
}

function placeOf({ kind, row }: Access): string {
  return kind === 'consent' ? `${kind}:${row.applicationId}/${row.instanceId}` : `${kind}:${row.id}`;
}

/** Ends what lets an application in, in the name of the person. Returns whether there was anything. */
export async function withdrawConsent(
  changes: Pick<Changes, 'accounts' | 'audit' | 'consents' | 'grants' | 'lock' | 'now'>,
  actor: Actor,
  { accountId, applicationId, instanceId }: Record<keyof ConsentKey, string>,
): Promise<boolean> {
  await changes.lock(accountId);
  const { id } = await getAccount(changes, accountId);
  const key = { accountId: id, applicationId, instanceId } as ConsentKey;
  const isWithdrawn = await endAccessOf(changes, key);
  if (isWithdrawn) {
    const attributes = { application_id: applicationId, instance_id: instanceId };
    await changes.audit(actor, { type: 'consent.withdrawn', subject: { type: 'account', id }, attributes });
  }
  return isWithdrawn;
}
