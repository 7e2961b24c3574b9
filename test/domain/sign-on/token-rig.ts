import type { ApplicationId, ClientId, InstanceId } from '../../../generated/ids.js';
import { RateLimiter } from '../../../src/domain/access/rate-limiter.js';
import { type ApplicationCreation, createApplication } from '../../../src/domain/operator/applications.js';
import type { Observation } from '../../../src/domain/operator/audit.js';
import type { OperatorChanges } from '../../../src/domain/operator/unit-of-work.js';
import { createClient } from '../../../src/domain/platform/organization/clients.js';
import { createInstance } from '../../../src/domain/platform/organization/instances.js';
import { createUser } from '../../../src/domain/platform/people/users.js';
import { onboardWorker } from '../../../src/domain/platform/people/worker-changes.js';
import type { User } from '../../../src/domain/platform/rows/people.js';
import { type AuthorizationCode, CODE_LIFETIME_MS } from '../../../src/domain/sign-on/authorization/codes.js';
import { RATES, type TokenIssuer } from '../../../src/domain/sign-on/sign-on.js';
import type { PresentedClient } from '../../../src/domain/sign-on/tokens/client-authentication.js';
import type { CodeExchange } from '../../../src/domain/sign-on/tokens/exchange-code.js';
import { issueTokens } from '../../../src/domain/sign-on/tokens/issue-tokens.js';
import type { Refresh } from '../../../src/domain/sign-on/tokens/refresh.js';
import { inNameOf } from '../../../src/domain/unit-of-work.js';
import { hashSecret } from '../../../src/identifiers/random-secrets.js';
import { operatorUnitOfWork } from '../../../src/store/adapters/operator/unit-of-work.js';
import { signOnUnitOfWork } from '../../../src/store/adapters/sign-on/unit-of-work.js';
import type { Database } from '../../../src/store/database.js';
import type { DatabaseUnderTest } from '../../support/databases.js';
import { fakeClock } from '../clock.js';
import { ISSUER, newKeyRing, randomText, secrets } from './token-keys.js';

const OPERATOR = { type: 'service_token', id: 'tok_1' };

export const REDIRECT_URI = 'https://portal.example.com/callback';

/** Everything the token half works with, over a database with one person who is a user of one client. */
export async function tokenRig(under: DatabaseUnderTest) {
  const database = await under.openMigrated();
  // Not a round number, so that what is rounded is seen.
  const clock = fakeClock(1_790_000_000_123);
  const unitOfWork = signOnUnitOfWork({ ...database, clock: clock.now });
  const backgroundErrors: unknown[] = [];
  const observed: Observation[] = [];
  const keys = await newKeyRing(clock.now);
  const issuer: TokenIssuer = {
    issuer: ISSUER,
    clock: clock.now,
    unitOfWork,
    passwords: undefined as never,
    keys,
    refreshTokens: secrets.refreshTokens,
    formTokens: secrets.formTokens,
    interactionSeals: secrets.interactionSeals,
    throttleHash: secrets.throttles,
    sessionLimits: { idleMs: 0, absoluteMs: 0 },
    strangers: undefined as never,
    crowds: undefined as never,
    browsers: undefined as never,
    guesses: undefined as never,
    people: undefined as never,
    peopleByDay: undefined as never,
    refusalRecords: undefined as never,
    onFault: undefined as never,
    wrongSecrets: new RateLimiter(RATES.wrongSecrets, clock.now),
    onBackgroundError: (error) => backgroundErrors.push(error),
    observe: (observation) => observed.push(observation),
  };
  const place = await newPlace(issuer);
  const application = await newApplication(issuer, database, place.instanceId);
  return { database, clock, issuer, keys, backgroundErrors, observed, ...place, application };
}

export type TokenRig = Awaited<ReturnType<typeof tokenRig>>;

/** An instance with one client and one person who is its user, and has signed in. */
export async function newPlace({ unitOfWork }: TokenIssuer) {
  const instance = await unitOfWork.run((changes) => createInstance(changes, { name: 'Harborlight' }));
  const client = await unitOfWork.run((changes) =>
    createClient(changes, { instanceId: instance.id, name: 'Tallowfern' }),
  );
  const user = await unitOfWork.run((changes) =>
    createUser(changes, {
      clientId: client.id,
      email: `ada.${randomText(4)}@example.com`,
      firstName: 'Ada',
      lastName: 'Moreau',
      withoutManager: true,
    }),
  );
  await activate(unitOfWork, user);
  return { instanceId: instance.id, clientId: client.id as ClientId, user, accountId: user.accountId };
}

/** As the first sign-in does. */
export async function activate({ run }: TokenIssuer['unitOfWork'], { id }: Pick<User, 'id'>): Promise<void> {
  await run(({ users, now }) => users.rewrite([{ id, status: 'ACTIVE', updatedAt: now }]));
}

export interface RegisteredApplication {
  id: ApplicationId;
  /** How it presents itself. */
  client: PresentedClient;
}

/** A confidential application that may do without PKCE, unless the test wants another. */
export async function newApplication(
  { clock }: TokenIssuer,
  database: Database,
  instanceId: InstanceId,
  fields: Partial<ApplicationCreation> = {},
): Promise<RegisteredApplication> {
  const operator = operatorUnitOfWork({ ...database, clock });
  const creation: ApplicationCreation = {
    name: 'Brightledger Portal',
    type: 'confidential',
    requirePkce: fields.type === 'public',
    redirectUris: [{ uri: REDIRECT_URI, instanceId }],
    firstParty: false,
    ...fields,
  };
  const { application, clientSecret } = await inNameOf(OPERATOR, operator).run((changes) =>
    createApplication(changes, 'demo', creation),
  );
  return { id: application.id, client: presented(application.id, clientSecret) };
}

export function presented(clientId: string, clientSecret?: string): PresentedClient {
  const secretHash = clientSecret === undefined ? undefined : hashSecret(clientSecret);
  return {
    method: secretHash ? 'secret' : 'none',
    clientId,
    secretHash,
    remoteAddress: '192.0.2.7',
    requestId: 'request-1',
  };
}

/** A code as a sign-in of the rig's person leaves it, and the exchange that is right for it. */
export async function newCode(
  { issuer, application, accountId, instanceId, clientId }: TokenRig,
  fields: Partial<AuthorizationCode> = {},
): Promise<{ code: AuthorizationCode; exchange: CodeExchange }> {
  const codeHash = hashSecret(randomText(32));
  const now = issuer.clock();
  const code: AuthorizationCode = {
    hash: codeHash.toString('base64url'),
    grantId: randomText(16),
    applicationId: application.id,
    accountId,
    instanceId,
    redirectUri: REDIRECT_URI,
    scopes: ['openid', 'profile', 'email'],
    codeChallenge: null,
    nonce: null,
    context: { userType: 'USER', clientId },
    authenticatedAt: now - 5_000,
    sessionId: 'session-1',
    status: 'ISSUED',
    issuedAt: now,
    expiresAt: now + CODE_LIFETIME_MS,
    ...fields,
  };
  await issuer.unitOfWork.run((changes) => changes.codes.insert(code));
  return { code, exchange: { codeHash, redirectUri: REDIRECT_URI } };
}

export function exchangeCode(issuer: TokenIssuer, client: PresentedClient, exchange: CodeExchange) {
  return issueTokens(issuer, client, { grantType: 'authorization_code', ...exchange });
}

export function rotateRefreshToken(issuer: TokenIssuer, client: PresentedClient, refresh: Refresh) {
  return issueTokens(issuer, client, { grantType: 'refresh_token', ...refresh });
}

/** The tokens of a sign-in that has just been. */
export async function signedIn(
  rig: TokenRig,
  fields: Partial<AuthorizationCode> = {},
  more: Partial<CodeExchange> = {},
) {
  const { code, exchange } = await newCode(rig, fields);
  const tokens = await exchangeCode(rig.issuer, rig.application.client, { ...exchange, ...more });
  return { ...tokens, refreshToken: tokens.refreshToken as string, grantId: code.grantId };
}

/** The rig's person as a worker of its client too. */
export function hired({ issuer, clientId, user }: TokenRig) {
  return issuer.unitOfWork.run((changes) =>
    onboardWorker(changes, {
      clientId,
      email: user.email,
      firstName: 'Ada',
      lastName: 'Moreau',
      jobTitles: [],
      unitIds: [],
    }),
  );
}

/** What an operator does with the rig's application. */
export function operate<T>(
  { database, issuer }: Pick<TokenRig, 'database' | 'issuer'>,
  work: (changes: OperatorChanges) => Promise<T>,
): Promise<T> {
  return inNameOf(OPERATOR, operatorUnitOfWork({ ...database, clock: issuer.clock })).run(work);
}

/** The types and outcomes that the audit log has, oldest first, those of setting up left out. */
export async function audited({ database }: Pick<TokenRig, 'database'>) {
  const rows = await database.reader
    .selectFrom('audit_events')
    .where('actor_type', '=', 'application')
    .orderBy('created_at')
    .orderBy('type')
    .selectAll()
    .execute();
  return rows.map(({ type, outcome }) => `${type} ${outcome}`);
}

export function grantOf({ issuer }: Pick<TokenRig, 'issuer'>, id: string) {
  return issuer.unitOfWork.rows.grants.find(id);
}
