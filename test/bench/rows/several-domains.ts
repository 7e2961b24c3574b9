import type { Comparison } from '../harness/comparison.js';
import type { Scope } from '../harness/scope.js';
import { startLoad } from '../load/load.js';
import { type Domains, startDomains } from '../subjects/several-domains.js';
import { signOnService } from '../subjects/sign-on-service.js';
import { startWebhookReceiver, type WebhookReceiver } from '../subjects/webhook-receiver.js';
import { makersOfEvents, type WebhookMakers } from '../subjects/webhook-service.js';
import { makeWorkplace } from '../subjects/workplace.js';
import { pkce } from './tokens.js';
import {
  atRate,
  DELIVERIES_PER_SECOND,
  FAN_OUT,
  POSTS,
  quantile,
  rate,
  subscribers,
  USERS,
} from './webhooks.js';

const ROUND_MS = 5_000;
const PROMISED_P99_MS = 25;

interface Setting {
  count: number;
  delayMs: number;
  goal: number;
}

const settings: readonly Setting[] = [
  { count: 2, delayMs: 2, goal: 1.8 },
  { count: 4, delayMs: 2, goal: 3 },
  { count: 2, delayMs: 20, goal: 1.8 },
  { count: 4, delayMs: 20, goal: 3 },
];

/** All nodes together make 32 attempts of one subscription at once: 20 would bound what four domains add. */
const SUBSCRIBERS = 80;
const USERS_OF_A_WRITE = 125;

/** So few that a domain mostly waits for its database. */
const CALLERS_OF_EACH = 1;

export const severalDomains: readonly Comparison[] = [
  ...settings.map(refreshesAt),
  ...settings.map(deliveriesAt),
  latencyBetweenNodes(),
];

function refreshesAt({ count, delayMs, goal }: Setting): Comparison {
  const name = `refresh, ${count} domains with ${CALLERS_OF_EACH} caller each, PostgreSQL answers ${delayMs} ms later (answers/s)`;
  return {
    rows: { [name]: { referenceName: 'one domain', goal, higherIsBetter: true } },
    warmUpRounds: 1,
    rounds: 3,
    setUp: async (scope) => {
      const start = async (domains: number) => {
        const workplace = makeWorkplace(scope);
        const { startEdge } = await startDomains(scope, workplace, { count: domains, delayMs });
        return signOnService(workplace, await startEdge(), pkce);
      };
      const [several, one] = [await start(count), await start(1)];
      const load = startLoad(scope);
      const rateOf = async (subject: typeof one, connections: number) => {
        const target = await subject.refreshes(connections);
        const { requestsPerSecond } = await load({ target, connections, durationMs: ROUND_MS });
        return { [name]: requestsPerSecond };
      };
      return {
        ours: () => rateOf(several, CALLERS_OF_EACH * count),
        reference: () => rateOf(one, CALLERS_OF_EACH),
      };
    },
  };
}

/** Each domain has a worker of its own. */
function deliveriesAt({ count, delayMs, goal }: Setting): Comparison {
  const name = `webhooks fanned out to ${SUBSCRIBERS}, ${count} domains, PostgreSQL answers ${delayMs} ms later (deliveries/s)`;
  return {
    rows: { [name]: { referenceName: 'one domain', goal, higherIsBetter: true } },
    warmUpRounds: 1,
    rounds: 3,
    setUp: async (scope) => {
      const start = (domains: number) =>
        startWebhooks(scope, subscribers('/take/', SUBSCRIBERS), {
          count: domains,
          delayMs,
          users: USERS_OF_A_WRITE,
          startWorkers: async ({ startWorker }) => {
            await Promise.all(Array.from({ length: domains }, (_, index) => startWorker(index)));
          },
        });
      const [several, one] = [await start(count), await start(1)];
      const rateOf = ({ receiver, makers }: typeof one) =>
        rate(name, receiver, async () => {
          await makers.makeEvents(POSTS / SUBSCRIBERS);
          return () => makers.drained();
        });
      return { ours: () => rateOf(several), reference: () => rateOf(one) };
    },
  };
}

/** Writes go to one domain; the worker uses only the other. */
function latencyBetweenNodes(): Comparison {
  const delayMs = 2;
  const name = `webhooks to ${FAN_OUT}, commit on one node to receipt by way of another at ${DELIVERIES_PER_SECOND}/s, PostgreSQL answers ${delayMs} ms later`;
  const [p50, p99] = [`${name}, p50 (ms)`, `${name}, p99 (ms)`];
  const terms = { referenceName: 'what is promised', goal: 1, higherIsBetter: false };
  return {
    rows: { [p99]: terms, [p50]: terms },
    warmUpRounds: 1,
    rounds: 3,
    setUp: async (scope) => {
      const { receiver, makers } = await startWebhooks(scope, subscribers('/take/'), {
        count: 2,
        delayMs,
        users: USERS,
        startWorkers: ({ startWorker }) => startWorker(1),
      });
      return {
        ours: async () => {
          const delaysMs = await delaysFromCommit(receiver, makers, delayMs);
          return { [p50]: quantile(delaysMs, 0.5), [p99]: quantile(delaysMs, 0.99) };
        },
        reference: async () => ({ [p50]: PROMISED_P99_MS, [p99]: PROMISED_P99_MS }),
      };
    },
  };
}

/** The commit is no later than its answer left the server. */
async function delaysFromCommit(receiver: WebhookReceiver, makers: WebhookMakers, delayMs: number) {
  const committedAt = new Map<string, number>();
  const { receipts } = await atRate(receiver, FAN_OUT, async () => {
    const name = await makers.makeEvent();
    committedAt.set(name, performance.timeOrigin + performance.now() - delayMs);
  });
  return receipts.map(({ name, at }) => at - (committedAt.get(name) ?? Number.NaN));
}

async function startWebhooks(
  scope: Scope,
  paths: readonly string[],
  {
    users,
    startWorkers,
    ...ofDomains
  }: {
    count: number;
    delayMs: number;
    users: number;
    startWorkers: (domains: Domains) => Promise<void>;
  },
) {
  const workplace = makeWorkplace(scope);
  const receiver = await startWebhookReceiver(scope);
  const domains = await startDomains(scope, workplace, ofDomains);
  await startWorkers(domains);
  const [{ grpc } = { grpc: '' }] = domains.addresses;
  const makers = await makersOfEvents(scope, workplace, { users, grpcAddress: grpc });
  await makers.subscribe(paths.map((path) => receiver.addressOf(path)));
  return { receiver, makers };
}
