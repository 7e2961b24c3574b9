import type { AccountId } from '../../../generated/ids.js';
import type { LinkPurpose } from '../../../src/domain/credentials/links.js';
import { createLink } from '../../../src/domain/platform/people/account-credentials.js';
import { newPublicId } from '../../../src/identifiers/public-id.js';
import { hashSecret } from '../../../src/identifiers/random-secrets.js';
import { invite, newPlatform, type Platform } from '../../store/adapters/platform/people.js';
import type { DatabaseUnderTest } from '../../support/databases.js';

export const ACTOR = { type: 'service_token', id: 'tok_backoffice', requestId: 'req_1' };

/** A platform with one person with a verified address and every kind of credential. */
export async function withPerson(under: DatabaseUnderTest) {
  const platform = await newPlatform(under);
  const user = await invite(platform, platform.client.id, { email: 'ada@example.com' });
  await allVerified(platform);
  await platform.newEvents();
  return { ...platform, accountId: user.accountId };
}

/** As if every person had opened their verification link. */
export function allVerified({ database }: Pick<Platform, 'database'>) {
  return database.write((writer) => writer.updateTable('accounts').set({ email_verified_at: 1 }).execute());
}

export type WithPerson = Awaited<ReturnType<typeof withPerson>>;

export function link(
  { run, accountId }: Pick<WithPerson, 'run' | 'accountId'>,
  purpose: LinkPurpose,
  lifetimeSeconds?: number,
) {
  return run((changes) => createLink(changes, ACTOR, { accountId, purpose, lifetimeSeconds }));
}

/** Whether the link can still be used; asking uses it up. */
export function works({ run }: Pick<Platform, 'run'>, { token }: { token: string }): Promise<boolean> {
  return run((changes) => changes.links.use(hashSecret(token).toString('base64url'), changes.now));
}

/** Signed in, with a grant in force. */
export async function signedIn({ run }: Pick<Platform, 'run'>, accountId: AccountId, name: string) {
  const ids = { session: `session-${name}`, grant: `grant-${name}` };
  await run(async ({ sessions, grants, now }) => {
    await sessions.insert({
      id: ids.session,
      beganAs: null,
      tokenHash: `hash-${name}`,
      account: { id: accountId, authenticatedAt: now },
      lastSeenAt: now,
      expiresAt: now + 3_600_000,
    });
    await grants.insert({
      id: ids.grant,
      applicationId: newPublicId('ApplicationId'),
      accountId,
      instanceId: newPublicId('InstanceId'),
      scopes: ['openid'],
      authenticatedAt: now,
      sessionId: ids.session,
      generation: 1,
      rotatedAt: now,
      refreshExpiresAt: now + 3_600_000,
      refreshEndsAt: now + 3_600_000,
      expiresAt: now + 3_600_000,
      revokedAt: null,
    });
  });
  return {
    /** What is left of it. */
    left: () =>
      run(async ({ sessions, grants }) => ({
        session: (await sessions.findByToken(`hash-${name}`)) !== undefined,
        grant: (await grants.find(ids.grant))?.revokedAt === null,
      })),
  };
}

export async function auditTrail({ database }: Pick<Platform, 'database'>) {
  const rows = await database.reader
    .selectFrom('audit_events')
    .orderBy('created_at')
    .select(['type', 'outcome', 'actor_id', 'subject_id', 'attributes'])
    .execute();
  return rows.map(({ attributes, ...row }) => ({ ...row, attributes: JSON.parse(attributes) }));
}
