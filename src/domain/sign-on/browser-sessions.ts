import type { AccountId } from '../../../generated/ids.js';
import { newRowId, newSecret, storedHash } from '../../identifiers/random-secrets.js';
import type { Session, SessionRows } from '../credentials/sessions.js';
import type { Browser, CookieChange } from './browser.js';
import type { SessionLimits } from './sign-on.js';

interface SessionsAt {
  sessions: SessionRows;
  now: number;
}

/** A session and the cookie that makes the browser hold it, where that changes. */
export interface HeldSession {
  session: Session;
  cookie?: CookieChange;
}

/** The session of the browser, if it has one that is within its limits. */
export async function sessionOf(
  { sessions, now }: SessionsAt,
  { sessionHash }: Browser,
  limits: SessionLimits,
): Promise<Session | undefined> {
  const session = sessionHash === undefined ? undefined : await sessions.findByToken(sessionHash);
  return session && isWithinLimits(session, limits, now) ? session : undefined;
}

export function isWithinLimits(
  { lastSeenAt, expiresAt }: Session,
  { idleMs }: SessionLimits,
  now: number,
): boolean {
  return now < expiresAt && now < lastSeenAt + idleMs;
}

/** Time to sign in. Anybody can have such a session, so they do not stay for long. */
const ANONYMOUS_MS = 2 * 3_600_000;

/** A session in which nobody is signed in yet: it ties the pages to the browser. */
export async function beginSession(
  { sessions, now }: SessionsAt,
  limits: SessionLimits,
): Promise<HeldSession> {
  const value = newSecret();
  const session: Session = {
    id: newRowId(),
    tokenHash: storedHash(value),
    account: null,
    lastSeenAt: now,
    expiresAt: now + Math.min(limits.absoluteMs, ANONYMOUS_MS),
  };
  await sessions.insert(session);
  return { session, cookie: { kind: 'set', value } };
}

/**
 * Signs the person in. The cookie gets a fresh value, so that whoever knew the old one holds nothing; the row stays the same one, so that what is under way in other
 * tabs goes on.
 */
export async function renewSession(
  { sessions, now }: SessionsAt,
  present: Session,
  accountId: AccountId,
  limits: SessionLimits,
): Promise<HeldSession> {
  const value = newSecret();
  const session: Session = {
    id: present.id,
    tokenHash: storedHash(value),
    account: { id: accountId, authenticatedAt: now },
    lastSeenAt: now,
    expiresAt: now + limits.absoluteMs,
  };
  await sessions.update(session);
  return { session, cookie: { kind: 'set', value } };
}

/** The idle limit needs no finer measure, unless it is short itself. */
const SEEN_EVERY_MS = 60_000;
const SEEN_IN_IDLE_TIME = 10;

/** Notes that the browser was here. */
export async function noteSeen(
  { sessions, now }: SessionsAt,
  session: Session,
  { idleMs }: SessionLimits,
): Promise<void> {
  if (now - session.lastSeenAt >= Math.min(SEEN_EVERY_MS, idleMs / SEEN_IN_IDLE_TIME)) {
    await sessions.noteSeen(session.id, now);
  }
}
