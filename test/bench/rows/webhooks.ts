import { openSnapshot } from '../../support/postgres/open-snapshot.js';
import type { Comparison, Priced, Reading } from '../harness/comparison.js';
import type { Scope } from '../harness/scope.js';
import { metered } from '../subjects/meter.js';
import { type StoreKind, storeIn } from '../subjects/postgres.js';
import { SIGNED_POSTS_NAME, signedPosts } from '../subjects/signed-posts.js';
import { startWebhookReceiver, type Taken, type WebhookReceiver } from '../subjects/webhook-receiver.js';
import { type WebhookMakers, webhookService } from '../subjects/webhook-service.js';

export const POSTS = 30_000;
/** Each write moves so many users: so many events. */
export const USERS = 500;
export const FAN_OUT = 20;
const FANNED_OUT = `webhooks fanned out to ${FAN_OUT}`;
const PROMISED_P99_MS = 8;
export const DELIVERIES_PER_SECOND = 300;
/** Enough that a hundredth of the writes behind them is more than one. */
const TIMED_DELIVERIES = 4_500;
const MS_PER_SECOND = 1_000;

/** The length of a `user.updated` event of the bench. */
const BODY = JSON.stringify({ type: 'user.updated', filler: 'x'.repeat(690) });

export const webhooks: readonly Comparison[] = [
  deliveries('webhooks to one subscriber', 0.14, ['/take/1'], {
    what: 'delivery of an event to one subscriber, its write included',
    limit: 'The rows of the event, of its delivery and of the attempt',
  }),
  deliveries(FANNED_OUT, 0.32, subscribers('/take/'), {
    what: `delivery of an event that goes to ${FAN_OUT} subscribers`,
    limit: 'The POST with its signature, and the row of the attempt',
  }),
  deliveries(
    `webhooks fanned out to ${FAN_OUT}, two of which fail each once`,
    0.2,
    [...subscribers('/first-fails/').slice(0, 2), ...subscribers('/take/').slice(2)],
    undefined,
    // Its own Temporal makes the second attempts.
    { TEMPORAL_ADDRESS: undefined, WEBHOOK_RETRY_DELAYS: '1s,2s' },
  ),
  latency(`to ${FAN_OUT}`, subscribers('/take/')),
  latency('to one', ['/take/1']),
  isolation(),
];

export const webhooksOnPostgres: readonly Comparison[] = [
  deliveries(FANNED_OUT, undefined, subscribers('/take/'), undefined, undefined, 'PostgreSQL'),
  latency(`to ${FAN_OUT}`, subscribers('/take/'), 'PostgreSQL'),
  besideSnapshot(),
];

/** From the first write until all deliveries are acknowledged; the recording of the last ones is excluded. */
function deliveries(
  what: string,
  goal: number | undefined,
  paths: readonly string[],
  priced?: Priced,
  settings?: Record<string, string | undefined>,
  store: StoreKind = 'SQLite',
): Comparison {
  const name = `${what}${storeIn(store)} (deliveries/s)`;
  return {
    rows: { [name]: { referenceName: SIGNED_POSTS_NAME, goal, higherIsBetter: true } },
    priced,
    warmUpRounds: 1,
    rounds: 3,
    setUp: async (scope, noteCost) => {
      const { receiver, service } = await start(scope, paths, { settings, store });
      const post = await signedPosts(scope);
      const origin = receiver.addressOf('');
      return {
        ours: async () => {
          const work = async () => {
            await service.makeEvents(POSTS / paths.length);
            return () => service.drained();
          };
          const { outcome, cost } = await metered(
            service.service,
            () => rate(name, receiver, work),
            () => POSTS,
          );
          noteCost(cost);
          return outcome;
        },
        reference: () =>
          rate(name, receiver, async () => {
            await post({ origin, path: '/take/1', count: POSTS, body: BODY });
            return () => Promise.resolve();
          }),
      };
    },
  };
}

export async function rate(
  name: string,
  receiver: WebhookReceiver,
  work: () => Promise<() => Promise<void>>,
): Promise<Reading> {
  const { all } = await receiver.expect(POSTS);
  const startedAt = performance.now();
  const rest = await work();
  const { taken } = await all;
  const seconds = (performance.now() - startedAt) / MS_PER_SECOND;
  await rest();
  return { [name]: taken / seconds };
}

/** From the event's time, before the commit, to its receipt. With one subscriber, each is its own write. */
function latency(toWhom: string, paths: readonly string[], store: StoreKind = 'SQLite'): Comparison {
  const name = `webhooks ${toWhom}, commit to receipt at ${DELIVERIES_PER_SECOND}/s${storeIn(store)}`;
  const [p50, p99] = [`${name}, p50 (ms)`, `${name}, p99 (ms)`];
  const terms =
    store === 'SQLite'
      ? { referenceName: 'what is promised', goal: 1, higherIsBetter: false }
      : { referenceName: 'what is promised on SQLite', higherIsBetter: false };
  return {
    rows: { [p99]: terms, [p50]: terms },
    warmUpRounds: 1,
    rounds: 3,
    setUp: async (scope) => {
      const { receiver, service } = await start(scope, paths, { store });
      return {
        ours: async () => {
          const delaysMs = await delaysAt(receiver, service, paths.length);
          return { [p50]: quantile(delaysMs, 0.5), [p99]: quantile(delaysMs, 0.99) };
        },
        reference: async () => ({ [p50]: PROMISED_P99_MS, [p99]: PROMISED_P99_MS }),
      };
    },
  };
}

/** The nineteen others, with one that never answers and without. */
function isolation(): Comparison {
  const name = 'webhooks, p99 of 19 subscribers beside one that hangs (ms)';
  const others = subscribers('/take/').slice(1);
  return {
    rows: { [name]: { referenceName: 'beside none', goal: 1.5, higherIsBetter: false } },
    warmUpRounds: 1,
    rounds: 3,
    setUp: async (scope) => {
      const beside = await start(scope, [...others, '/hang/1']);
      const alone = await start(scope, others);
      const p99 = async ({ receiver, service }: typeof alone) => ({
        [name]: quantile(await delaysAt(receiver, service, others.length), 0.99),
      });
      return { ours: () => p99(beside), reference: () => p99(alone) };
    },
  };
}

/** While a transaction is open that keeps the dead rows of all rounds, as that of a long dump does. */
function besideSnapshot(): Comparison {
  const name = `webhooks to ${FAN_OUT} at ${DELIVERIES_PER_SECOND}/s beside an open snapshot, on PostgreSQL`;
  const [perSecond, p99] = [`${name} (deliveries/s)`, `${name}, p99 (ms)`];
  return {
    rows: {
      [perSecond]: { referenceName: 'what is made', goal: 0.9, higherIsBetter: true },
      [p99]: { referenceName: 'what is promised on SQLite', higherIsBetter: false },
    },
    warmUpRounds: 1,
    rounds: 3,
    setUp: async (scope) => {
      const { receiver, service } = await start(scope, subscribers('/take/'), { store: 'PostgreSQL' });
      scope.onEnd(await openSnapshot(service.service.env.DATABASE_URL as string));
      return {
        ours: async () => {
          const startedAt = performance.now();
          const { taken, delaysMs } = await atRate(receiver, FAN_OUT, () => service.makeEvent());
          const seconds = (performance.now() - startedAt) / MS_PER_SECOND;
          return { [perSecond]: taken / seconds, [p99]: quantile(delaysMs, 0.99) };
        },
        reference: async () => ({ [perSecond]: DELIVERIES_PER_SECOND, [p99]: PROMISED_P99_MS }),
      };
    },
  };
}

/** Makes 300 deliveries a second, as evenly as one process can, and says how long each took. */
async function delaysAt(receiver: WebhookReceiver, service: WebhookMakers, subscriberCount: number) {
  const { delaysMs } = await atRate(receiver, subscriberCount, () => service.makeEvent());
  return delaysMs;
}

/** Calls `make` so often that 300 deliveries a second follow, and resolves when all are received. */
export async function atRate(
  receiver: WebhookReceiver,
  subscriberCount: number,
  make: () => Promise<unknown>,
): Promise<Taken> {
  const events = Math.ceil(TIMED_DELIVERIES / subscriberCount);
  const everyMs = (MS_PER_SECOND * subscriberCount) / DELIVERIES_PER_SECOND;
  const { all } = await receiver.expect(events * subscriberCount, { isTimed: true });
  const startedAt = performance.now();
  const writes: Promise<unknown>[] = [];
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      while (writes.length < events && performance.now() - startedAt >= writes.length * everyMs) {
        const write = make();
        // Thrown below, where all are awaited; until then it must not end the process.
        write.catch(() => undefined);
        writes.push(write);
      }
      if (writes.length === events) {
        clearInterval(timer);
        resolve();
      }
    }, 1);
  });
  await Promise.all(writes);
  return all;
}

async function start(
  scope: Scope,
  paths: readonly string[],
  given: { settings?: Record<string, string | undefined> | undefined; store?: StoreKind } = {},
) {
  const receiver = await startWebhookReceiver(scope);
  const service = await webhookService(scope, { users: USERS, ...given });
  await service.subscribe(paths.map((path) => receiver.addressOf(path)));
  return { receiver, service };
}

export function subscribers(path: string, count = FAN_OUT): string[] {
  return Array.from({ length: count }, (_, index) => `${path}${index}`);
}

export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
