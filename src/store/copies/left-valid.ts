import { CopyError } from '../store-error.js';
import { type Ends, type ValidList, without } from './valid-list.js';

const MOST_NAMED = 5;

/** Throws if anything is valid that the list does not have. */
export function refuseLeftValid(present: ValidList, listed: ValidList): void {
  const left = Object.entries(leftValid(present, listed)).filter(([, ids]) => ids.length > 0);
  if (left.length > 0) {
    throw keptError(left.map(([part, ids]) => `${part}: ${ids.slice(0, MOST_NAMED).join(', ')}`).join('; '));
  }
}

/** Throws unless the row was changed. */
export function assertEnded(isChanged: boolean, id: string): void {
  if (!isChanged) {
    throw keptError(id);
  }
}

/** A trigger that the copy brought along can keep rows from being changed, without an error. */
export function keptError(what: string): CopyError {
  return new CopyError(
    `The restore failed: something in the database of the backup, such as a trigger, kept what was to end (${what}). Look there for triggers and rules that the service did not make, or restore an older backup.`,
  );
}

/** What is valid for longer, or permits more, than the list says: ids by part of the list. */
function leftValid(present: ValidList, listed: ValidList): Record<keyof ValidList, string[]> {
  const ids = (part: 'applications' | 'members' | 'subscriptions' | 'signingKeys' | 'instanceIntegrations') =>
    without(present[part], listed[part]);
  const ends = (part: 'apiKeys' | 'serviceTokens' | 'clientSecrets' | 'subscriptionSecrets') =>
    Object.keys(present[part]).filter((id) => isLater(present[part], listed[part], id));
  const lists = (part: 'redirectUris' | 'scopes' | 'grantTypes' | 'postLogoutRedirectUris') =>
    Object.keys(present[part]).filter((id) => without(present[part][id] ?? [], listed[part][id]).length > 0);
  return {
    apiKeys: ends('apiKeys'),
    serviceTokens: ends('serviceTokens'),
    clientSecrets: ends('clientSecrets'),
    subscriptionSecrets: ends('subscriptionSecrets'),
    accounts: without(present.accounts, listed.accounts),
    // Of accounts that may sign in.
    emails: present.accounts.filter((id) => present.emails[id] !== listed.emails[id]),
    passwords: Object.keys(present.passwords).filter((id) => present.passwords[id] !== listed.passwords[id]),
    applications: ids('applications'),
    members: ids('members'),
    subscriptions: ids('subscriptions'),
    signingKeys: ids('signingKeys'),
    instanceIntegrations: ids('instanceIntegrations'),
    redirectUris: lists('redirectUris'),
    scopes: lists('scopes'),
    grantTypes: lists('grantTypes'),
    postLogoutRedirectUris: lists('postLogoutRedirectUris'),
  };
}

function isLater(present: Ends, listed: Ends, id: string): boolean {
  const last = (end: number | null | undefined) => (end === null ? Number.POSITIVE_INFINITY : (end ?? 0));
  return last(present[id]) > last(listed[id]);
}
