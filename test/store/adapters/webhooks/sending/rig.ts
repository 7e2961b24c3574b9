import { randomBytes } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { ClientId, DeliveryId, InstanceId, SubscriptionId } from '../../../../../generated/ids.js';
import { RateLimiter } from '../../../../../src/domain/access/rate-limiter.js';
import type { ClaimRequest } from '../../../../../src/domain/webhooks/sending/claims/claim.js';
import {
  type ClaimPauses,
  DeliveryClaims,
} from '../../../../../src/domain/webhooks/sending/claims/claims.js';
import { DueSignal, type NewlyDue } from '../../../../../src/domain/webhooks/sending/due-signal.js';
import {
  giveUpDeliveries,
  type LaterAttempt,
  makeDeliveriesDue,
} from '../../../../../src/domain/webhooks/sending/interventions.js';
import { recordResults } from '../../../../../src/domain/webhooks/sending/records.js';
import { type AttemptResult, LONG_ANSWERS } from '../../../../../src/domain/webhooks/sending/results.js';
import { RetryGrace, RetryHandover } from '../../../../../src/domain/webhooks/sending/retry-batches.js';
import type {
  SendingDependencies,
  SendingSettings,
} from '../../../../../src/domain/webhooks/sending/sending.js';
import { newPublicId } from '../../../../../src/identifiers/public-id.js';
import { newRecordId } from '../../../../../src/identifiers/record-id.js';
import { SealedBox } from '../../../../../src/keys/sealed-box.js';
import { platformUnitOfWork } from '../../../../../src/store/adapters/platform/unit-of-work.js';
import { LOOK_LIMITS } from '../../../../../src/store/adapters/webhooks/sending/due-looks.js';
import { sendingUnitOfWork } from '../../../../../src/store/adapters/webhooks/sending/unit-of-work.js';
import type { Database } from '../../../../../src/store/database.js';
import { isLockTimeout, repeated } from '../../../../../src/store/dialects/postgres/trouble.js';
import type { Schema } from '../../../../../src/store/schema.js';
import { fakeClock } from '../../../../domain/clock.js';
import type { DatabaseUnderTest } from '../../../../support/databases.js';
import { LONGER_THAN_A_TEST_MS } from '../../../../support/eventually.js';
import type { Row } from '../../../rows.js';
import { newConnection } from '../subscriptions/rig.js';

/** Calls for workflows. */
export const WORKER = { type: 'service', id: 'relay', requestId: 'request-1' };

export const SETTINGS: SendingSettings = {
  timeoutMs: 15_000,
  retryDelaysMs: [30_000, 300_000],
  failingLimitMs: 432_000_000,
};
/** With the margin for what comes before and after the exchange. */
export const LEASE_MS = 30_000;
/** The longest pause between sweeps, which follows a search that is slow on a busy machine. */
export const SWEEP_PAUSE_MS = 5_000;

/** For claims that only a wake ends. */
export const NEVER: ClaimPauses = {
  lookMs: LONGER_THAN_A_TEST_MS,
  notifiedMs: LONGER_THAN_A_TEST_MS,
  lockedMs: LONGER_THAN_A_TEST_MS,
};

/** Of one who never hangs up. */
export const PATIENT = new AbortController().signal;

/** On a busy machine, searches would seem slow, and claims would find less until a complete one. */
export const NEVER_SLOW = {
  ...LOOK_LIMITS,
  slowMs: Number.POSITIVE_INFINITY,
  farTooSlowMs: Number.POSITIVE_INFINITY,
};

/** Of a relay that has slots for all that is due. */
export const REQUEST: ClaimRequest = {
  freeSlots: 256,
  totalSlots: 32,
  maxRunningPerSubscription: 64,
  maxWaitMs: 0,
};

const BOX = new SealedBox(randomBytes(32));

/** A migrated database with events and deliveries; several rigs may share one, like nodes. */
export async function sendingRig(
  under: DatabaseUnderTest,
  settings: Partial<SendingSettings> = {},
  lookLimits = NEVER_SLOW,
) {
  const database = await under.openMigrated();
  const connection = await newConnection(database);
  return {
    connection,
    ...sendingNode(database, connection, fakeClock(), settings, undefined, lookLimits),
  };
}

/** Two nodes of one service with the same clock. On SQLite they share a connection. */
export async function twoSendingNodes(under: DatabaseUnderTest) {
  const place = await under.newPlace();
  const database = await under.openMigrated(place);
  const connection = await newConnection(database);
  const clock = fakeClock();
  const another = under.kind === 'SQLite' ? database : await under.open(place);
  return {
    one: sendingNode(database, connection, clock),
    other: sendingNode(another, connection, clock),
  };
}

export function sendingNode(
  database: Database,
  { id: connectionId, instanceId, clientId }: { id: string; instanceId: InstanceId; clientId: ClientId },
  clock = fakeClock(),
  settings: Partial<SendingSettings> = {},
  pauses?: ClaimPauses,
  lookLimits = NEVER_SLOW,
) {
  const deliveriesDue = new DueSignal();
  const unsendable: string[] = [];
  const unswept: unknown[] = [];
  const notTakenBack: unknown[] = [];
  const setBacks: number[] = [];
  const dependencies: SendingDependencies = {
    unitOfWork: sendingUnitOfWork({ ...database, clock: clock.now }, undefined, lookLimits),
    clock: clock.now,
    secrets: BOX,
    deliveriesDue,
    grace: new RetryGrace(SETTINGS.retryDelaysMs),
    settings: { ...SETTINGS, ...settings },
    random: () => 0.5,
    longAnswers: new RateLimiter(LONG_ANSWERS, clock.now),
    onUnsendable: (id) => unsendable.push(id),
    onUnswept: (error) => unswept.push(error),
    onNotTakenBack: (error) => notTakenBack.push(error),
    onSetBack: (moved) => setBacks.push(moved),
  };
  const claims = new DeliveryClaims(dependencies, pauses);
  const due = { onDue: (newly: NewlyDue) => deliveriesDue.wake(newly) };
  /** Repeats what waits too long for a lock, as a worker does. */
  const recordOnly = (...results: AttemptResult[]) =>
    repeated(Number.POSITIVE_INFINITY, isLockTimeout, () =>
      recordResults(dependencies, results, () => claims.attemptsEnded()),
    );
  // Its events stand for any: their content is no matter of the sending.
  const platform = platformUnitOfWork({ ...database, clock: clock.now }, due, () => undefined);
  /**
   * Waits for the sweep that it begins, whose end is then not seen as that of a later time. If it finds
   * nothing, it looks again if that sweep ended attempts.
   */
  const claim = async (request: Partial<ClaimRequest> = {}, caller = PATIENT) => {
    // Of 3 slots, none are kept for other instance integrations.
    const complete = { ...REQUEST, ...(request.freeSlots !== undefined && { totalSlots: 3 }), ...request };
    const found = await claims.claim(complete, caller).finally(() => claims.swept());
    const isSwept = found.deliveries.length === 0 && (await claims.swept());
    return isSwept ? claims.claim(complete, caller) : found;
  };
  /** For a signal, unless told otherwise. */
  const makeDue = (...attempts: (Omit<LaterAttempt, 'bySignal'> & Partial<LaterAttempt>)[]) =>
    makeDeliveriesDue(
      dependencies,
      WORKER,
      attempts.map((attempt) => ({ bySignal: true, ...attempt })),
    );
  return {
    ...{
      database,
      clock,
      dependencies,
      deliveriesDue,
      unsendable,
      unswept,
      notTakenBack,
      setBacks,
      claims,
      platform,
      claim,
    },
    handover: new RetryHandover(dependencies),
    makeDue,
    /** Makes the attempt due and claims. Returns the number of the attempt that this began, if any. */
    begin: async (id: DeliveryId, number: number): Promise<number | undefined> => {
      await makeDue({ id, number });
      return (await claim()).deliveries.find((delivery) => delivery.id === id)?.number;
    },
    recordOnly,
    /** Returns the delivery of each result as it is stored then. */
    record: async (...results: AttemptResult[]) => {
      await recordOnly(...results);
      const stored = await dependencies.unitOfWork.rows.retried(results.map(({ deliveryId }) => deliveryId));
      return results.flatMap(({ deliveryId }) => stored.filter(({ id }) => id === deliveryId));
    },
    giveUp: (...ids: DeliveryId[]) => giveUpDeliveries(dependencies, WORKER, ids),
    /** What a change of the instance reports. */
    event: () => eventOf({ instanceId, clientId }),
    /** Writes an event of the instance. */
    happen: (event: Partial<{ type: string; clientId: string; instanceId: InstanceId; name: string }> = {}) =>
      platform.run((changes) => changes.recordEvent(eventOf({ instanceId, clientId, ...event }))),
    subscribe: (row: Row<'subscriptions'> = {}) =>
      plantSubscription(database, { instance_integration_id: connectionId, instance_id: instanceId, ...row }),
    deliveries: () => database.reader.selectFrom('deliveries').orderBy('seq').selectAll().execute(),
    delivery: (id: string): Promise<Selectable<Schema['deliveries']>> =>
      database.reader.selectFrom('deliveries').where('id', '=', id).selectAll().executeTakeFirstOrThrow(),
    attempts: (id: string) =>
      database.reader
        .selectFrom('delivery_attempts')
        .where('delivery_seq', '=', (delivery) =>
          delivery.selectFrom('deliveries').where('id', '=', id).select('seq'),
        )
        .orderBy('number')
        .selectAll()
        .execute(),
    subscription: (id: string) =>
      database.reader.selectFrom('subscriptions').where('id', '=', id).selectAll().executeTakeFirstOrThrow(),
    /** The one delivery whose first attempt is due, which has begun now. */
    claimOne: async (): Promise<DeliveryId> => {
      const first = (await claim()).deliveries.filter(({ number }) => number === 1);
      if (first.length !== 1) {
        throw new Error(`${first.length} deliveries were due.`);
      }
      return first[0]?.id as DeliveryId;
    },
  };
}

export type SendingNode = ReturnType<typeof sendingNode>;

export function succeeded(deliveryId: DeliveryId, number = 1): AttemptResult {
  const attempt = { number, outcome: 'SUCCEEDED' as const, durationMs: 12, httpStatus: 200 };
  return { deliveryId, attempt: { ...attempt, message: null, responseStart: Buffer.from('ok') } };
}

export function refused(deliveryId: DeliveryId, number = 1, httpStatus = 500): AttemptResult {
  const attempt = { number, outcome: 'STATUS_REFUSED' as const, durationMs: 34, httpStatus };
  const message = `The receiver answered ${httpStatus}.`;
  return { deliveryId, attempt: { ...attempt, message, responseStart: null } };
}

export async function plantSubscription(
  database: Database,
  row: Row<'subscriptions'> & { instance_integration_id: string; instance_id: string },
): Promise<SubscriptionId> {
  const id = newPublicId('SubscriptionId');
  const subscription = {
    ...{ id: id as string, url: 'https://hooks.example.com/in', event_types: '["*"]', client_ids: '[]' },
    ...{ description: '', status: 'ACTIVE' as const, disabled_reason: null, disabled_at: null },
    ...{ last_success_at: null, failing_since: null, version: 'v1', created_at: 1, updated_at: 1 },
    deleted_at: null,
    ...row,
  };
  await database.write(async (writer) => {
    await writer.insertInto('subscriptions').values(subscription).execute();
  });
  await plantSecret(database, subscription.id);
  return subscription.id as SubscriptionId;
}

export async function plantSecret(
  database: Database,
  subscriptionId: string,
  row: Row<'subscription_secrets'> = {},
): Promise<Buffer> {
  const id = newRecordId('sec');
  const secret = randomBytes(32);
  const planted = { id, subscription_id: subscriptionId, sealed: BOX.seal(secret, id), created_at: 1 };
  await database.write((writer) =>
    writer
      .insertInto('subscription_secrets')
      .values({ ...planted, expires_at: null, ...row })
      .execute(),
  );
  return secret;
}

function eventOf({
  type = 'user.updated',
  instanceId,
  clientId,
  name = 'Mira Castellan',
}: {
  type?: string;
  instanceId: InstanceId;
  clientId: string;
  name?: string;
}) {
  const userId = newPublicId('UserId');
  const self = `/v1/instance-integrations/{instanceIntegrationId}/clients/${clientId}/users/${userId}`;
  // The links stand before the name here, as they may in what the platform hands over.
  const data = { userId, links: { self }, fullName: name };
  return { type, instanceId, clientId, entity: { type: 'user', id: userId }, data } as never;
}
