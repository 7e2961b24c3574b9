import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  AttemptOutcome,
  type DeliveryAttempt,
  DeliveryStatus,
} from '../../../generated/proto/integration/webhooks/v1/deliveries.js';
import { type HostileBehaviour, hostileServers } from '../../support/webhooks/hostile-servers.js';
import { instanceIds } from '../sign-on/demo-environment.js';
import { type Subscribed, webhookEnvironment } from './webhook-environment.js';

/** Longer than a busy machine takes for all that ends by itself. */
const TIMEOUT_MS = 10_000;
const SENTENCE = /^\S+( \S+){3,}\.$/;
const CODE_OF_A_PROGRAM = /\bE[A-Z]{4,}\b|_[A-Z]|[{}]|undefined/;
const KEPT_BYTES = 16 * 1_024;

/** Names that resolve differently for the worker and for the domain, as after a change. */
const MOVED_NAMES = `data:text/javascript,${encodeURIComponent(`
  import dns from 'node:dns';
  import { syncBuiltinESMExports } from 'node:module';
  const isWorker = process.argv.includes('worker');
  const answers = { 'vanished.example.com': undefined, 'moved.example.com': '10.1.2.3' };
  const { lookup } = dns;
  dns.lookup = (host, options, callback = options) => {
    if (!(host in answers)) return lookup(host, options, callback);
    const address = isWorker ? answers[host] : '127.0.0.1';
    if (!address) return callback(Object.assign(new Error('queryA ENOTFOUND ' + host), { code: 'ENOTFOUND', hostname: host }));
    return options?.all ? callback(null, [{ address, family: 4 }]) : callback(null, address, 4);
  };
  dns.promises.lookup = (host, options = {}) => new Promise((resolve, reject) =>
    dns.lookup(host, options, (error, address, family) =>
      error ? reject(error) : resolve(options.all ? address : { address, family })));
  syncBuiltinESMExports();`)}`;

const environment = webhookEnvironment(() => ({
  env: { WEBHOOK_TIMEOUT: `${TIMEOUT_MS}ms`, NODE_OPTIONS: `--import="${MOVED_NAMES}"` },
}));
const servers = hostileServers();

interface Case {
  where: (port: number) => string;
  behaviour?: HostileBehaviour | 'self-signed' | 'nobody';
  outcome: AttemptOutcome;
  says: RegExp;
}

const http = (port: number) => `http://127.0.0.1:${port}/hook`;
const https = (port: number) => `https://127.0.0.1:${port}/hook`;

const cases: Record<string, Case> = {
  'an endless body behind a failure': {
    where: http,
    behaviour: 'refuses at endless length',
    outcome: AttemptOutcome.STATUS_REFUSED,
    says: /500/,
  },
  'a body of one byte now and then': {
    where: http,
    behaviour: 'accepts byte by byte',
    outcome: AttemptOutcome.TIMED_OUT,
    says: /within 10 s\b/,
  },
  'no answer at all': {
    where: http,
    behaviour: 'says nothing',
    outcome: AttemptOutcome.TIMED_OUT,
    says: /within 10 s\b/,
  },
  'TLS that never ends': {
    where: https,
    behaviour: 'says nothing',
    outcome: AttemptOutcome.TIMED_OUT,
    says: /within 10 s\b/,
  },
  'an untrusted certificate': {
    where: https,
    behaviour: 'self-signed',
    outcome: AttemptOutcome.TLS_FAILED,
    says: /certificate/i,
  },
  'a connection that is closed without an answer': {
    where: http,
    behaviour: 'hangs up',
    outcome: AttemptOutcome.CONNECTION_FAILED,
    says: /clos|reset|broke/i,
  },
  'an answer that breaks off': {
    where: http,
    behaviour: 'hangs up in its answer',
    outcome: AttemptOutcome.CONNECTION_FAILED,
    says: /clos|reset|broke/i,
  },
  'an answer that is not HTTP': {
    where: http,
    behaviour: 'speaks something else',
    outcome: AttemptOutcome.PROTOCOL_ERROR,
    says: /HTTP/,
  },
  'a port without a listener': {
    where: http,
    behaviour: 'nobody',
    outcome: AttemptOutcome.CONNECTION_FAILED,
    says: /refused/i,
  },
  'a name that is no longer known': {
    where: (port) => `http://vanished.example.com:${port}/`,
    behaviour: 'says nothing',
    outcome: AttemptOutcome.NAME_NOT_RESOLVED,
    says: /vanished\.example\.com/,
  },
  'a name that now stands for a private address': {
    where: (port) => `http://moved.example.com:${port}/`,
    behaviour: 'says nothing',
    outcome: AttemptOutcome.ADDRESS_REFUSED,
    says: /address/i,
  },
};

const subscribed = new Map<string, Omit<Subscribed, 'receiver'>>();
let endless: Omit<Subscribed, 'receiver'>;

beforeAll(async () => {
  const { demo } = environment;
  for (const [title, { where, behaviour }] of Object.entries(cases)) {
    subscribed.set(title, await demo.subscribeAddress(where(await portOf(behaviour))));
  }
  endless = await demo.subscribeAddress(http(await servers.start('accepts at endless length')));
  await demo.newClient(instanceIds.harborlight);
});

function portOf(behaviour: Case['behaviour']): Promise<number> {
  if (behaviour === 'self-signed') {
    return servers.startSelfSigned();
  }
  return behaviour === 'nobody' || behaviour === undefined ? servers.nobody() : servers.start(behaviour);
}

describe('a receiver with', () => {
  test.each(Object.entries(cases))('%s: an attempt with an understandable reason', async (title, wanted) => {
    const { attempt, status } = await firstAttempt(subscribed.get(title) as Subscribed);
    expect([attempt.number, attempt.outcome, attempt.message]).toEqual([
      1,
      wanted.outcome,
      expect.stringMatching(wanted.says),
    ]);
    expect(attempt.message).toMatch(SENTENCE);
    expect(attempt.message).not.toMatch(CODE_OF_A_PROGRAM);
    expect(status).toBe(DeliveryStatus.PENDING);
  });

  test('an endless body: what is kept of it is its beginning', async () => {
    const { attempt } = await firstAttempt(subscribed.get('an endless body behind a failure') as Subscribed);
    expect(attempt.responseStart).toHaveLength(KEPT_BYTES);
  });

  test('an endless body behind a success: a success, for its status was there', async () => {
    const { attempt, status } = await firstAttempt(endless);
    expect([attempt.outcome, attempt.httpStatus, status]).toEqual([
      AttemptOutcome.SUCCEEDED,
      200,
      DeliveryStatus.DELIVERED,
    ]);
  });
});

async function firstAttempt(
  to: Pick<Subscribed, 'subscription'>,
): Promise<{ attempt: DeliveryAttempt; status?: DeliveryStatus }> {
  const { delivery, attempts } = await environment.demo.attempted(to);
  return { attempt: attempts[0] as DeliveryAttempt, ...(delivery && { status: delivery.status }) };
}
