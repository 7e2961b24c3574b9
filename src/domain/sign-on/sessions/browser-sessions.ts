import type { AccountId } from '../../../../generated/ids.js';
import { newRowId, newSecret, storedHash } from '../../../identifiers/random-secrets.js';
import type { Session } from '../../credentials/access.js';
import type { RowsAt, SessionLimits } from '../sign-on.js';
import type { Browser, CookieChange } from './browser.js';

/** A session, and its cookie if that changes. */
interface HeldSession {
  session: Session;
  cookie?: CookieChange;
}

/** The session of the browser, or an unknown browser's cookie. Undefined for neither, or past its limits. */
export async function sessionOf(
  { sessions, now }: RowsAt<'sessions'>,
  { sessionHash }: Browser,
  limits: SessionLimits,
): Promise<Session | undefined> {
  if (sessionHash === undefined) {
    return undefined;
  }
  const session = await sessions.findByToken(sessionHash);
  if (!session?.account) {
    return strangerOf(sessionHash, now);
  }
  return isWithinLimits(session, limits, now) ? session : undefined;
}

function isWithinLimits({ lastSeenAt, expiresAt }: Session, { idleMs }: SessionLimits, now: number): boolean {
  return now < expiresAt && now < lastSeenAt + idleMs;
}

/** Gives an unknown browser a cookie, which binds its pages to it. Stores nothing. */
export function newStranger(now: number): HeldSession {
  const value = newSecret();
  return { session: strangerOf(storedHash(value), now), cookie: { kind: 'set', value } };
}

function strangerOf(tokenHash: string, now: number): Session {
  return { id: tokenHash, beganAs: null, tokenHash, account: null, lastSeenAt: now, expiresAt: now };
}

/** A session that a sign-in ended: that of another person in the browser, or the least recently used one. */
interface EndedSession {
  id: string;
  accountId: AccountId;
  reason: 'replaced' | 'too_many';
}

/** More browsers than a person uses; beyond it the least recently used one is signed out. */
export const SESSIONS_PER_ACCOUNT = 50;

/**
 * Signs the person in with a new cookie value, which invalidates the old one. A session of another person in
 * the browser is replaced; an interaction continues.
 */
export async function signInTo(
  { sessions, now }: RowsAt<'sessions'>,
  present: Session | undefined,
  accountId: AccountId,
  limits: SessionLimits,
): Promise<HeldSession & { ended: EndedSession[] }> {
  const value = newSecret();
  const before = present?.account;
  const session: Session = {
    id: present && before ? present.id : newRowId(),
    beganAs: present ? (before ? present.beganAs : present.id) : null,
    tokenHash: storedHash(value),
    account: { id: accountId, authenticatedAt: now },
    lastSeenAt: now,
    expiresAt: now + limits.absoluteMs,
  };
  await (before ? sessions.update(session) : sessions.insert(session));
  const ended: EndedSession[] = (await sessions.keepNewest(accountId, SESSIONS_PER_ACCOUNT)).map((id) => ({
    ...{ id, accountId, reason: 'too_many' },
  }));
  if (before && before.id !== accountId) {
    ended.push({ id: session.id, accountId: before.id, reason: 'replaced' });
  }
  return { session, cookie: { kind: 'set', value }, ended };
}

/** Finer than the idle limit needs, unless that is short itself. */
const SEEN_EVERY_MS = 60_000;
const SEEN_IN_IDLE_TIME = 10;

/** Records that the person has taken a step of a sign-in. */
export async function noteSeen(
  { sessions, now }: RowsAt<'sessions'>,
  session: Session,
  { idleMs }: SessionLimits,
): Promise<void> {
  if (now - session.lastSeenAt >= Math.min(SEEN_EVERY_MS, idleMs / SEEN_IN_IDLE_TIME)) {
    await sessions.noteSeen(session.id, now);
  }
}
