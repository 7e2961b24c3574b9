import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type Kysely, Migrator, sql } from 'kysely';
import type {
  AccountId,
  ApplicationId,
  ClientId,
  DeliveryId,
  InstanceIntegrationId,
} from '../../../generated/ids.js';
import { packageRoot, packageVersion } from '../../../src/config/package.js';
import { RateLimiter } from '../../../src/domain/access/rate-limiter.js';
import { ENTITY_TYPES } from '../../../src/domain/directory/stores.js';
import { verifyAuditLog } from '../../../src/domain/operator/audit-verification.js';
import { updateIntegration } from '../../../src/domain/operator/integrations.js';
import { inNameOf } from '../../../src/domain/unit-of-work.js';
import { DeliveryClaims } from '../../../src/domain/webhooks/sending/claims/claims.js';
import { DueSignal } from '../../../src/domain/webhooks/sending/due-signal.js';
import { recordResults } from '../../../src/domain/webhooks/sending/records.js';
import { LONG_ANSWERS } from '../../../src/domain/webhooks/sending/results.js';
import { RetryGrace } from '../../../src/domain/webhooks/sending/retry-batches.js';
import type { SendingDependencies } from '../../../src/domain/webhooks/sending/sending.js';
import { hashSecret } from '../../../src/identifiers/random-secrets.js';
import { KeyKeeper } from '../../../src/keys/key-keeper.js';
import { SealedBox } from '../../../src/keys/sealed-box.js';
import { encryptionKey } from '../../../src/keys/secrets-key.js';
import {
  derivedKeys,
  firstTokenKeys,
  type Purpose,
  refreshTokens,
  subkeyOf,
} from '../../../src/keys/subkeys.js';
import { migrations, newestMigration } from '../../../src/store/migrations/index.js';
import type { Store } from '../../../src/store/store.js';
import { type DatabaseUnderTest, describeEachDatabase } from '../../support/databases.js';
import { valuesIn } from '../../support/gateway/contract-rows.js';
import { recordedLog } from '../../support/recorded-log.js';
import { OPERATOR } from '../adapters/operator/rig.js';
import { hashText } from '../rows.js';
import {
  API_KEY,
  AT,
  CLIENT_SECRET,
  CODE,
  GRANT,
  IDS,
  LINK,
  PRIVATE_KEY,
  rowsOf131,
  SERVICE_TOKEN,
  SESSION,
  WEBHOOK_SECRET,
} from './released/release-1.3.1.js';
import { KNOWN_EMAIL, rowsOf140 } from './released/release-1.4.0.js';
import { hashOfStatements } from './released/statements.js';

// biome-ignore lint/suspicious/noExplicitAny: a schema of an earlier time.
type Earlier = Kysely<any>;

const KEY = Buffer.alloc(32, 7);
/** The key of the key file, as the first releases derived the keys of each purpose from it. */
const seal = (purpose: Purpose, content: Uint8Array, name: string) =>
  new SealedBox(subkeyOf(KEY, purpose)).seal(content, name);

interface Release {
  newest: string;
  rows: [table: string, ...rows: object[]][];
  /** The owner of its idempotency keys. */
  ownerId: string;
  /** Of its users, in their order, as integrations read them. */
  emails: string[];
  /** What its migrations run, and those before. */
  statements: Record<DatabaseUnderTest['kind'], string>;
}

/** Each release with its newest migration, and rows for all of its tables. */
const RELEASES: Record<string, Release> = {
  '1.3.1': {
    ...{ newest: '0005-webhooks', rows: rowsOf131(seal), ownerId: '', emails: ['Ada@Example.com'] },
    statements: {
      SQLite: 'fFByphxZuxDbowgQFF_ib6ERMtCHJbf_DU4oWeK0j3s',
      PostgreSQL: 'EXGQ_WzlEWy9VxJySpaS4-g7WJcA1QXOEX1EP95YGJE',
    },
  },
  '1.4.0': {
    ...{ newest: '0043-present-by-person', rows: rowsOf140(seal, firstTokenKeys(KEY)), ownerId: 'tok_1' },
    emails: ['Ada@Example.com', KNOWN_EMAIL],
    statements: {
      SQLite: 'JqTCaPnphCExJ56Yryf9bw8k-yix1cdn57opg8myPhU',
      PostgreSQL: 'oCK7s7EpdEmDy-ZIw7ecvwHuWHtIUS78nxHSCKkAnDc',
    },
  },
};
const PAGE = { after: undefined, limit: 10 };

test('every release of the changelog is upgraded here', () => {
  const changelog = readFileSync(join(packageRoot, 'CHANGELOG.md'), 'utf8');
  const released = [...changelog.matchAll(/^## (\d+\.\d+\.\d+)/gm)].map(([, version]) => version);
  expect(released).toEqual(Object.keys(RELEASES).reverse());
});

test('the release that package.json names has its newest migration here', () => {
  // A release in development has no entry until it is in the changelog.
  expect(RELEASES[packageVersion]?.newest ?? newestMigration).toBe(newestMigration);
});

describe.each(Object.entries(RELEASES))('a database of release %s', (_, release) => {
  test.each(['SQLite', 'PostgreSQL'] as const)('is migrated on %s as it was then', async (kind) => {
    expect(await hashOfStatements(release.newest, kind)).toBe(release.statements[kind]);
  });

  describeEachDatabase('brought to this version', (under) => {
    test('keeps what it holds, in the meaning it had', async () => {
      const store = await upgraded(under, release);
      const keeper = new KeyKeeper({
        ...{ seals: store.seals, keys: [encryptionKey(KEY)], readKeys: () => [encryptionKey(KEY)] },
        ...{ node: 'node', clock: Date.now, log: recordedLog().log },
      });
      const derived = derivedKeys(keeper.ring, await keeper.adopt());
      await credentialsWork(store, release);
      await signOnGoesOn(store);
      await directoryIsRead(store, release);
      await sequenceHasAll(store, release);

      const [signingKey] = await store.signOn.rows.signingKeys.all();
      expect(derived.signingKeys.open(signingKey?.sealedPrivateKey ?? '', 'kid_1')).toEqual(PRIVATE_KEY);
      const refreshToken = refreshTokens(subkeyOf(KEY, 'refresh-tokens')).seal(GRANT, 3);
      expect(derived.refreshTokens.open(refreshToken)).toEqual({ grantId: GRANT, generation: 3 });

      await pendingIsDelivered(store, derived.webhookSecrets);
      await auditIsIntact(store, derived.audit);
    });
  });
});

/** Every table of the release has rows, which only the migrations change then. */
async function upgraded(under: DatabaseUnderTest, { newest, rows, ownerId }: Release) {
  const place = await under.newEmptyPlace();
  const database = await under.open(place);
  const earlier = database.patient as unknown as Earlier;
  await new Migrator({ db: earlier, provider: { getMigrations: async () => migrations } }).migrateTo(newest);
  const tables = (await earlier.introspection.getTables()).map(({ name }) => name);
  expect(rows.map(([table]) => table).sort()).toEqual(tables.sort());
  for (const [table, ...values] of rows.filter(([, ...values]) => values.length > 0)) {
    await earlier.insertInto(table).values(values).execute();
  }
  const store = await under.openStore(place);
  const owners = await sql<{ owner_id: string }>`select owner_id from idempotency_keys`.execute(earlier);
  expect(owners.rows).toEqual([{ owner_id: ownerId }]);
  return store;
}

async function credentialsWork(
  { visits, serviceTokens, signOn, operator: { rows } }: Store,
  release: Release,
): Promise<void> {
  const visit = await visits.findInstanceIntegration(
    hashSecret(API_KEY),
    IDS.connection as InstanceIntegrationId,
  );
  expect(visit).toMatchObject({
    key: { id: 'key_1', integrationId: IDS.integration, revokedAt: null },
    instanceIntegration: { instanceId: IDS.instance, configured: true },
  });
  expect(await serviceTokens.findByHash(hashSecret(SERVICE_TOKEN))).toMatchObject({
    ...{ id: 'tok_1', kind: 'platform', instanceId: null, ownerId: null, revokedAt: null },
  });
  const [, key] = release.rows.find(([table]) => table === 'api_keys') as [string, Record<string, unknown>];
  const rotation = {
    rotatedAt: key.rotated_at ?? null,
    intendedExpiresAt: key.intended_expires_at ?? null,
  };
  expect(await rows.apiKeys.find('key_1')).toMatchObject(rotation);
  expect(await rows.serviceTokens.find('tok_1')).toMatchObject(rotation);
  expect(await signOn.rows.applications.find(IDS.application as ApplicationId)).toMatchObject({
    ...{ name: 'Rota', type: 'confidential', enabled: true, requirePkce: true },
    ...{ secrets: [{ hash: hashText(CLIENT_SECRET), expiresAt: null }] },
  });
}

async function signOnGoesOn({ signOn: { rows } }: Store): Promise<void> {
  const account = IDS.account as AccountId;
  expect(await rows.passwords.find(account)).toEqual({ hash: '$argon2id$of-1.3.1', setAt: AT });
  expect(await rows.sessions.findByToken(hashText(SESSION))).toMatchObject({
    account: { id: account, authenticatedAt: AT },
  });
  expect(await rows.links.find(hashText(LINK))).toMatchObject({ accountId: account, purpose: 'reset' });
  expect(await rows.codes.find(hashText(CODE))).toMatchObject({ grantId: GRANT, accountId: account });
  expect(await rows.grants.find(GRANT)).toMatchObject({ accountId: account, generation: 3, revokedAt: null });
}

async function directoryIsRead({ users, workers }: Store, { emails }: Release): Promise<void> {
  const found = await valuesIn(users.page(IDS.client as never, PAGE));
  expect(found.map(({ email }) => email)).toEqual(emails);
  expect(found[0]).toMatchObject({ userId: IDS.user, status: 'ACTIVE' });
  const [worker] = await valuesIn(workers.pageV2(IDS.client as never, PAGE));
  expect(worker).toMatchObject({ id: IDS.worker, fullName: 'Ada Moreau', jobTitles: ['Barista'] });
}

async function sequenceHasAll({ changes }: Store, { emails }: Release): Promise<void> {
  const counted = (await changes.digestsOf(IDS.client as ClientId)).map(({ type, entities }) => [
    type,
    Number(entities),
  ]);
  expect(Object.fromEntries(counted)).toEqual({
    ...Object.fromEntries(ENTITY_TYPES.map((type) => [type, 1])),
    user: emails.length,
  });
}

async function pendingIsDelivered(store: Store, secrets: SendingDependencies['secrets']): Promise<void> {
  const dependencies: SendingDependencies = {
    ...{ unitOfWork: store.sending, secrets, deliveriesDue: new DueSignal(), grace: new RetryGrace([1, 1]) },
    settings: { timeoutMs: 15_000, retryDelaysMs: [30_000, 300_000], failingLimitMs: 432_000_000 },
    clock: Date.now,
    random: () => 0.5,
    longAnswers: new RateLimiter(LONG_ANSWERS, Date.now),
    onUnsendable: (_, error) => {
      throw error;
    },
    onUnswept: () => undefined,
    onNotTakenBack: () => undefined,
    onSetBack: () => undefined,
  };
  const claims = new DeliveryClaims(dependencies);
  const request = { freeSlots: 9, totalSlots: 9, maxRunningPerSubscription: 9, maxWaitMs: 0 };
  const { deliveries, targets } = await claims.claim(request, new AbortController().signal);
  expect(deliveries).toMatchObject([{ id: IDS.delivery, number: 2 }]);
  expect(targets).toMatchObject([{ signingSecrets: [WEBHOOK_SECRET] }]);
  const attempt = { number: 2, outcome: 'SUCCEEDED', durationMs: 5, httpStatus: 204 };
  const result = { deliveryId: IDS.delivery, attempt: { ...attempt, message: null, responseStart: null } };
  await recordResults(dependencies, [result] as never);
  const [delivered] = await store.sending.rows.retried([IDS.delivery as DeliveryId]);
  expect(delivered).toMatchObject({ status: 'DELIVERED', attemptsBegun: 2, nextAttemptAt: null });
}

/** Records from before the chains cannot be verified; those from now on can. */
async function auditIsIntact(store: Store, mac: Parameters<typeof verifyAuditLog>[1]): Promise<void> {
  store.startAuditChains(mac, { onBroken: () => undefined, onSpoiled: () => undefined });
  await inNameOf(OPERATOR, store.operator).run((changes) =>
    updateIntegration(changes, { integrationId: IDS.integration, name: 'Brightledger Accounting' }),
  );
  const { auditEvents } = store.operator.rows;
  expect(await auditEvents.page(PAGE, { types: [] })).toMatchObject([
    { type: 'integration.updated', subject: { id: IDS.integration } },
    {
      ...{ id: 'aud_1', type: 'integration.created', outcome: 'succeeded', createdAt: AT },
      ...{ actor: { type: 'operator', id: 'tok_1' }, subject: { type: 'integration', id: IDS.integration } },
      attributes: { fields: 'name' },
    },
  ]);
  const findings: unknown[] = [];
  for await (const progress of verifyAuditLog(auditEvents, mac, new AbortController().signal)) {
    findings.push(...progress.findings);
  }
  expect(findings).toEqual([]);
}
