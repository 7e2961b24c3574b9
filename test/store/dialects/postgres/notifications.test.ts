import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { sql } from 'kysely';
import pg from 'pg';
import { DeliveryClaims } from '../../../../src/domain/webhooks/sending/claims/claims.js';
import { newPublicId } from '../../../../src/identifiers/public-id.js';
import {
  NOTIFICATION_LIMITS,
  type NotificationLimits,
} from '../../../../src/store/dialects/postgres/notifications.js';
import type { Silence, Store } from '../../../../src/store/store.js';
import { type DatabasePlace, databaseUnderTest } from '../../../support/databases.js';
import { eventually, LONGER_THAN_A_TEST_MS } from '../../../support/eventually.js';
import { transactionPooler } from '../../../support/postgres/transaction-pooler.js';
import { stallingProxy } from '../../../support/stalling-proxy.js';
import { NEVER, PATIENT, sendingNode } from '../../adapters/webhooks/sending/rig.js';
import { newConnection } from '../../adapters/webhooks/subscriptions/rig.js';

const REQUEST = { freeSlots: 64, totalSlots: 64, maxRunningPerSubscription: 64 };
/** A busy machine answers late. */
const PATIENT_LIMITS = { ...NOTIFICATION_LIMITS, connectMs: 30_000, answerMs: 30_000, leastPauseMs: 5 };
const HASTY_LIMITS = {
  ...PATIENT_LIMITS,
  ...{ connectMs: 500, answerMs: 500, checkEveryMs: 50, mostPauseMs: 20, unheardPauseMs: 20 },
};
const PROCESS_NAME = 'integration notifications';
const CHANNEL = 'integration_deliveries_due';

const under = databaseUnderTest('PostgreSQL');

/** A place with a subscription, and the events that it receives. */
async function subscribedPlace() {
  const place = await under.newPlace();
  const database = await under.openMigrated(place);
  const rig = sendingNode(database, await newConnection(database));
  return { place, database, rig, url: place.databaseUrl as string };
}

type Rig = Awaited<ReturnType<typeof subscribedPlace>>['rig'];

async function openNode(
  place: DatabasePlace,
  { directUrl, limits = PATIENT_LIMITS }: { directUrl?: string; limits?: NotificationLimits } = {},
) {
  const silences: Silence[] = [];
  let listened = 0;
  const store = await under.openStore(place, 'demo', {
    onInvalidEvent: () => undefined,
    notifications: {
      directUrl,
      limits,
      onListening: () => {
        listened += 1;
      },
      onSilence: (kind) => silences.push(kind),
    },
  });
  const listening = (times = 1) => eventually('a node that listens', () => listened >= times);
  return { store, silences, listening, due: store.deliveriesDue };
}

/** Two that hear each other. */
async function twoNodes() {
  const { rig, ...subscribed } = await subscribedPlace();
  const [one, other] = [await openNode(subscribed.place), await openNode(subscribed.place)];
  await one.listening();
  await other.listening();
  return { ...subscribed, rig, one, other };
}

function happen({ platform }: Pick<Store, 'platform'>, rig: Rig) {
  return platform.run((changes) => changes.recordEvent(rig.event()));
}

function claimsOf({ sending, deliveriesDue }: Store, { dependencies }: Rig, pauses?: typeof NEVER) {
  const own = { ...dependencies, unitOfWork: sending, clock: Date.now, deliveriesDue };
  return new DeliveryClaims(own, pauses);
}

/** A claim that has looked and found nothing, and does not look again by itself. */
async function waitingClaim(store: Store, rig: Rig) {
  const news = jest.spyOn(store.deliveriesDue, 'news');
  const before = news.mock.calls.length;
  const claim = claimsOf(store, rig, NEVER).claim({ ...REQUEST, maxWaitMs: LONGER_THAN_A_TEST_MS }, PATIENT);
  await eventually('a claim that waits', () => news.mock.calls.length > before);
  return { claim };
}

interface Statement {
  client: unknown;
  text: string;
}

interface Meddling {
  /** The answer to this text waits until such a statement was sent. */
  answerTo?: string;
  waitsFor?: (statement: Statement) => boolean;
  /** The first such statement is refused. */
  refuses?: (statement: Statement) => boolean;
}

/** All that are sent to PostgreSQL from now on. */
function statements({ answerTo, waitsFor = () => false, refuses = () => false }: Meddling = {}): Statement[] {
  const asked: Statement[] = [];
  let isRefused = false;
  const { query } = pg.Client.prototype;
  jest.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...given: unknown[]
  ) {
    const [asking] = given as [string | { text: string }];
    const statement = { client: this, text: typeof asking === 'string' ? asking : asking.text };
    asked.push(statement);
    const send = (...parameters: unknown[]) =>
      (query as (...all: unknown[]) => unknown).apply(this, parameters);
    if (!isRefused && refuses(statement)) {
      isRefused = true;
      return send('select refused');
    }
    const answer = send(...given);
    return statement.text === answerTo
      ? eventually('the statement that is waited for', () => asked.some(waitsFor)).then(() => answer)
      : answer;
  } as never);
  return asked;
}

const isNotification = ({ text }: Statement) => text.includes('synchronous_commit');

afterEach(() => {
  jest.restoreAllMocks();
});

describe('nodes on one PostgreSQL', () => {
  test('wake the waiting claim of another node for what they commit', async () => {
    const { rig, one, other } = await twoNodes();
    await rig.subscribe();
    const { claim } = await waitingClaim(other.store, rig);
    await happen(one.store, rig);
    expect((await claim).deliveries).toHaveLength(1);
  });

  test('notify nothing if a claim of their own node takes the deliveries, or a commit makes none due', async () => {
    const { rig, one, other } = await twoNodes();
    const asked = statements();
    const before = other.due.count;
    await happen(one.store, rig);
    await rig.subscribe();
    const { claim } = await waitingClaim(one.store, rig);
    await happen(one.store, rig);
    expect((await claim).deliveries).toHaveLength(1);
    expect(asked.filter(isNotification)).toEqual([]);
    await happen(one.store, rig);
    expect(asked.filter(isNotification)).toHaveLength(1);
    await other.due.news(before, LONGER_THAN_A_TEST_MS, PATIENT);
  });

  test('do not hear themselves', async () => {
    const { rig, one, other } = await twoNodes();
    await rig.subscribe();
    const payloads = new Map<unknown, Set<unknown>>();
    const { emit } = pg.Client.prototype;
    jest.spyOn(pg.Client.prototype, 'emit').mockImplementation(function (
      this: pg.Client,
      event: string,
      ...given: unknown[]
    ) {
      const { channel, payload } = (given[0] ?? {}) as Partial<pg.Notification>;
      // Each node also notifies itself, to check its connection.
      if (event === 'notification' && channel === CHANNEL) {
        payloads.set(this, (payloads.get(this) ?? new Set()).add(payload));
      }
      return (emit as (...parameters: unknown[]) => boolean).call(this, event, ...given);
    } as never);
    const elsewhere = ({ due }: typeof one) => due.count - due.countHere;
    const before = [one, other].map(elsewhere);
    await happen(one.store, rig);
    await happen(other.store, rig);
    await eventually('both notifications at both', () => {
      const complete = [...payloads.values()].filter(({ size }) => size === 2);
      return complete.length === 2;
    });
    expect([one, other].map(elsewhere)).toEqual(before.map((count) => count + 1));
  });

  test('name the subscriptions, with which the claim of another node begins without a look', async () => {
    const { rig, one, other } = await twoNodes();
    const ids = [await rig.subscribe(), await rig.subscribe()].sort();
    const { claim } = await waitingClaim(other.store, rig);
    const look = jest.spyOn(other.store.sending.rows, 'dueSubscriptions');
    const asked = statements();
    await happen(one.store, rig);
    expect((await claim).targets.map(({ subscriptionId }) => subscriptionId)).toEqual(ids);
    expect(look).not.toHaveBeenCalled();
    expect(asked.find(isNotification)?.text).toContain(` ${ids.join(' ')}'`);
  });

  test('name none of more subscriptions than a notification holds', async () => {
    const { rig, one, other } = await twoNodes();
    for (let count = 0; count < 257; count += 1) {
      await rig.subscribe();
    }
    const { claim } = await waitingClaim(other.store, rig);
    const asked = statements();
    await happen(one.store, rig);
    // All slots but the last eighth.
    expect((await claim).deliveries).toHaveLength(56);
    expect(asked.find(isNotification)?.text).not.toContain('whs_');
  });

  test('name what one notification after the commit stands for', async () => {
    const { rig, one, other } = await twoNodes();
    const id = await rig.subscribe();
    const before = other.due.count;
    other.due.takeNewlyDue();
    one.due.wake(new Set([id]));
    await other.due.news(before, LONGER_THAN_A_TEST_MS, PATIENT);
    expect(other.due.takeNewlyDue()).toEqual(new Set([id]));
  });

  test('name what became due before they listened', async () => {
    const { place } = await subscribedPlace();
    const other = await openNode(place);
    await other.listening();
    const before = other.due.count;
    other.due.takeNewlyDue();
    const one = await openNode(place);
    const id = newPublicId('SubscriptionId');
    one.due.wake(new Set([id]));
    expect(one.due.isNotified).toBe(false);
    await other.due.news(before, LONGER_THAN_A_TEST_MS, PATIENT);
    expect(other.due.takeNewlyDue()).toEqual(new Set([id]));
  });

  test.each([
    ['of an earlier release', () => randomUUID()],
    ['with an id of another form', (id: string) => `${randomUUID()} ${id} ${id}x`],
    ['with foreign text', (id: string) => `${id}' or true; --`],
    ['with nothing', () => ''],
  ])('look at all that is due after a notification %s', async (_, payloadFor) => {
    const { rig, other, database } = await twoNodes();
    const id = await rig.subscribe();
    const { claim } = await waitingClaim(other.store, rig);
    const look = jest.spyOn(other.store.sending.rows, 'dueSubscriptions');
    await rig.happen();
    await sql`select pg_notify(${CHANNEL}, ${payloadFor(id)})`.execute(database.reader);
    expect((await claim).deliveries).toHaveLength(1);
    expect(look).toHaveBeenCalledTimes(1);
  });

  test('claim nothing that is not due, whatever a notification names', async () => {
    const { rig, other, database } = await twoNodes();
    const disabled = await rig.subscribe();
    await rig.happen();
    await sql`update subscriptions set status = 'DISABLED'`.execute(database.patient);
    const unknown = newPublicId('SubscriptionId');
    const { claim } = await waitingClaim(other.store, rig);
    const news = jest.spyOn(other.due, 'news');
    const payload = `${randomUUID()} ${disabled} ${unknown}`;
    await sql`select pg_notify(${CHANNEL}, ${payload})`.execute(database.reader);
    await eventually('a claim that waits on', () => news.mock.calls.length > 0);
    other.due.close();
    expect((await claim).deliveries).toEqual([]);
  });

  test('notify right behind the commit, before its answer, and outside of the transaction', async () => {
    const { rig, one, other } = await twoNodes();
    await rig.subscribe();
    const asked = statements({ answerTo: 'commit', waitsFor: isNotification });
    const before = other.due.count;
    await happen(one.store, rig);
    await other.due.news(before, LONGER_THAN_A_TEST_MS, PATIENT);
    const [notification, ...more] = asked.filter(isNotification);
    expect(more).toEqual([]);
    const own = asked.filter(({ client }) => client === notification?.client).map(({ text }) => text);
    expect(own.slice(-2)).toEqual(['commit', notification?.text]);
  });

  test('notify once for many commits', async () => {
    const { rig, place } = await subscribedPlace();
    const node = await openNode(place, { limits: { ...PATIENT_LIMITS, apartMs: LONGER_THAN_A_TEST_MS } });
    await node.listening();
    await rig.subscribe();
    const asked = statements();
    for (let times = 0; times < 5; times += 1) {
      await happen(node.store, rig);
      node.due.wake();
    }
    expect(asked.filter(isNotification)).toHaveLength(1);
  });

  test('notify once more for the commits since the last notification', async () => {
    const { one, other } = await twoNodes();
    const asked = statements();
    const before = other.due.count;
    for (let times = 0; times < 100; times += 1) {
      one.due.wake();
    }
    await eventually('what stands for all of them', () => other.due.count >= before + 2);
    expect(asked.filter(isNotification)).toHaveLength(2);
  });

  test('notify again after the commit when PostgreSQL refuses what is behind it', async () => {
    const { rig, one, other, database } = await twoNodes();
    await rig.subscribe();
    const asked = statements({ refuses: isNotification });
    const before = other.due.count;
    await happen(one.store, rig);
    await other.due.news(before, LONGER_THAN_A_TEST_MS, PATIENT);
    expect(asked.filter(isNotification)).toHaveLength(2);
    const { rows } = await sql`select from events`.execute(database.reader);
    expect(rows).toHaveLength(1);
  });

  test('listen again when PostgreSQL has ended the connection, and hear of what they missed', async () => {
    const { rig, one, other, database } = await twoNodes();
    await rig.subscribe();
    const { claim } = await waitingClaim(other.store, rig);
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = ${PROCESS_NAME} and datname = current_database()
    `.execute(database.reader);
    await eventually('a node that polls', () => one.silences.length + other.silences.length === 2);
    await happen(one.store, rig);
    expect((await claim).deliveries).toHaveLength(1);
    await Promise.all([one.listening(2), other.listening(2)]);
    expect([one.silences, other.silences]).toEqual([['lost'], ['lost']]);
    const { claim: next } = await waitingClaim(other.store, rig);
    await happen(one.store, rig);
    expect((await next).deliveries).toHaveLength(1);
  });

  test('poll while the connection is silent', async () => {
    const { rig, place, url } = await subscribedPlace();
    const way = await stallingProxy(url);
    try {
      const node = await openNode(place, { directUrl: way.url, limits: HASTY_LIMITS });
      await node.listening();
      await eventually('a node that is told', () => node.due.isNotified);
      way.freeze();
      await eventually('a node that polls', () => !node.due.isNotified);
      expect(node.silences).toContain('lost');
      await rig.subscribe();
      await rig.happen();
      const claim = claimsOf(node.store, rig).claim({ ...REQUEST, maxWaitMs: 60_000 }, PATIENT);
      expect((await claim).deliveries).toHaveLength(1);
    } finally {
      way.close();
    }
  });

  test('poll behind a pooler in transaction mode, and say so once, unless they know a direct way', async () => {
    const { rig, url, place } = await subscribedPlace();
    const pooler = await transactionPooler(url, 'refused');
    const behind = { ...place, databaseUrl: pooler.url };
    try {
      const node = await openNode(behind, { limits: HASTY_LIMITS });
      await eventually('a node that has noticed', () => node.silences.includes('unheard'));
      expect(node.due.isNotified).toBe(false);
      await rig.subscribe();
      const claim = claimsOf(node.store, rig).claim({ ...REQUEST, maxWaitMs: 60_000 }, PATIENT);
      await rig.happen();
      expect((await claim).deliveries).toHaveLength(1);
      expect(node.silences.filter((kind) => kind === 'unheard')).toHaveLength(1);

      const direct = await openNode(behind, { directUrl: url });
      await direct.listening();
      expect(direct.silences).toEqual([]);
      await direct.store.close();
      await node.store.close();
    } finally {
      pooler.close();
    }
  });

  test('do not listen unless they are asked to', async () => {
    const { place, database } = await subscribedPlace();
    await under.openStore(place);
    const { rows } = await sql`
      select from pg_stat_activity where application_name = ${PROCESS_NAME} and datname = current_database()
    `.execute(database.reader);
    expect(rows).toEqual([]);
  });
});
