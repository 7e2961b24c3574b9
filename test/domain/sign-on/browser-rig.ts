import type { AccountId, ApplicationId, ClientId, InstanceId } from '../../../generated/ids.js';
import { RateLimiter } from '../../../src/domain/access/rate-limiter.js';
import { type ApplicationCreation, createApplication } from '../../../src/domain/operator/applications.js';
import type { Observation } from '../../../src/domain/operator/audit.js';
import type { OperatorChanges } from '../../../src/domain/operator/unit-of-work.js';
import { createClient } from '../../../src/domain/platform/organization/clients.js';
import { createInstance } from '../../../src/domain/platform/organization/instances.js';
import { createUser } from '../../../src/domain/platform/people/users.js';
import { onboardWorker } from '../../../src/domain/platform/people/worker-changes.js';
import { RATES, type SignOn, type SignOnChanges } from '../../../src/domain/sign-on/sign-on.js';
import { inNameOf } from '../../../src/domain/unit-of-work.js';
import { operatorUnitOfWork } from '../../../src/store/adapters/operator/unit-of-work.js';
import { signOnUnitOfWork } from '../../../src/store/adapters/sign-on/unit-of-work.js';
import type { DatabaseUnderTest } from '../../support/databases.js';
import { fakeClock } from '../clock.js';
import { quickHasher } from './quick-hasher.js';
import { ISSUER, newKeyRing, secrets } from './token-keys.js';

export const HOUR_MS = 3_600_000;
export const PASSWORD = 'a quiet harbour';
/** Where the application of the rig wants its people. */
export const CALLBACK = 'https://portal.example.com/callback';
export const OTHER_CALLBACK = 'https://portal.example.com/callback?instance=2';
export const AFTER_LOGOUT = 'https://portal.example.com/bye';

const OPERATOR = { type: 'service_token', id: 'tok_of_the_test' };

/** Two instances with a client each, one confidential application with a redirect URI for each, no people. */
export async function browserRig(under: DatabaseUnderTest) {
  const database = await under.openMigrated();
  const clock = fakeClock(1_790_000_000_123);
  const unitOfWork = signOnUnitOfWork({ ...database, clock: clock.now });
  const operator = operatorUnitOfWork({ ...database, clock: clock.now });
  const keys = await newKeyRing(clock.now);
  const passwords = quickHasher();
  const observed: Observation[] = [];
  const faults: { requestId: string; fault: unknown }[] = [];
  const signOn: SignOn = {
    issuer: ISSUER,
    clock: clock.now,
    unitOfWork,
    passwords,
    keys,
    refreshTokens: secrets.refreshTokens,
    formTokens: secrets.formTokens,
    interactionSeals: secrets.interactionSeals,
    throttleHash: secrets.throttles,
    sessionLimits: { idleMs: 12 * HOUR_MS, absoluteMs: 14 * 24 * HOUR_MS },
    strangers: new RateLimiter(RATES.strangers, clock.now),
    crowds: new RateLimiter(RATES.crowds, clock.now),
    browsers: new RateLimiter(RATES.browsers, clock.now),
    guesses: new RateLimiter(RATES.guesses, clock.now),
    people: new RateLimiter(RATES.people, clock.now),
    peopleByDay: new RateLimiter(RATES.peopleByDay, clock.now),
    refusalRecords: new RateLimiter(RATES.refusalRecords, clock.now),
    observe: (observation) => observed.push(observation),
    onFault: (requestId, fault) => faults.push({ requestId, fault }),
  };
  const run = <T>(work: (changes: SignOnChanges) => Promise<T>) => unitOfWork.run(work);
  const operate = <T>(work: (changes: OperatorChanges) => Promise<T>) =>
    inNameOf(OPERATOR, operator).run(work);
  const here = await newPlace(run, 'Harborlight', 'Tallowfern');
  const there = await newPlace(run, 'Brackwater', 'Greywharf');
  const newApplication = async (fields: Partial<ApplicationCreation> = {}): Promise<ApplicationId> => {
    const creation: ApplicationCreation = {
      name: 'Brightledger Portal',
      type: 'confidential',
      requirePkce: fields.type === 'public',
      redirectUris: [
        { uri: CALLBACK, instanceId: here.instanceId },
        { uri: OTHER_CALLBACK, instanceId: there.instanceId },
      ],
      postLogoutRedirectUris: [AFTER_LOGOUT],
      firstParty: true,
      ...fields,
    };
    const made = await operate((changes) => createApplication(changes, 'demo', creation));
    return made.application.id;
  };
  const applicationId = await newApplication();
  return {
    database,
    clock,
    signOn,
    passwords,
    observed,
    faults,
    keys,
    run,
    operate,
    here,
    there,
    newApplication,
    applicationId,
  };
}

export type BrowserRig = Awaited<ReturnType<typeof browserRig>>;

export interface Place {
  instanceId: InstanceId;
  clientId: ClientId;
}

type Run = <T>(work: (changes: SignOnChanges) => Promise<T>) => Promise<T>;

async function newPlace(run: Run, instanceName: string, clientName: string): Promise<Place> {
  const instance = await run((changes) => createInstance(changes, { name: instanceName }));
  const clientId = await newClient({ run }, instance.id, clientName);
  return { instanceId: instance.id, clientId };
}

export async function newClient(
  { run }: { run: Run },
  instanceId: InstanceId,
  name: string,
): Promise<ClientId> {
  const client = await run((changes) => createClient(changes, { instanceId, name }));
  return client.id as ClientId;
}

let people = 0;

export interface Person {
  accountId: AccountId;
  email: string;
}

/** A person who was invited to the clients, with a password by default. */
export async function newPerson(
  { run }: Pick<BrowserRig, 'run'>,
  clientIds: readonly ClientId[],
  password: string | undefined = PASSWORD,
): Promise<Person> {
  people += 1;
  const email = `person.${people}@example.com`;
  let accountId: AccountId | undefined;
  for (const clientId of clientIds) {
    const user = await run((changes) => createUser(changes, { clientId, email, withoutManager: true }));
    accountId = user.accountId;
  }
  const id = accountId as AccountId;
  if (password !== undefined) {
    await run((changes) => changes.passwords.set(id, `hash of ${password}`, changes.now));
  }
  return { accountId: id, email };
}

/** As if the person had signed in before, as the user of this client. */
export async function signedInBefore(
  { run }: Pick<BrowserRig, 'run'>,
  { accountId }: Pick<Person, 'accountId'>,
  clientId: ClientId,
): Promise<void> {
  await run(async (changes) => {
    const users = await changes.users.ofAccount(accountId);
    for (const { id } of users.filter((user) => user.clientId === clientId)) {
      await changes.users.update({ id, status: 'ACTIVE' });
    }
  });
}

export function hire({ run }: Pick<BrowserRig, 'run'>, { email }: Pick<Person, 'email'>, clientId: ClientId) {
  const names = { firstName: 'Ada', lastName: 'Moreau', jobTitles: [], unitIds: [] };
  return run((changes) => onboardWorker(changes, { clientId, email, ...names }));
}

/** What the audit log has of signing on, oldest first: `type outcome actor>subject`. */
export async function audited({ database }: Pick<BrowserRig, 'database'>) {
  const rows = await database.reader
    .selectFrom('audit_events')
    .where('actor_id', '!=', OPERATOR.id)
    .orderBy('created_at')
    .orderBy('type')
    .selectAll()
    .execute();
  return rows.map((row) => ({
    what: `${row.type} ${row.outcome}`,
    actor: row.actor_id,
    subject: row.subject_id,
    attributes: JSON.parse(row.attributes) as Record<string, string>,
  }));
}
