import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { instanceIds } from '../../flow/sign-on/demo-environment.js';
import { WebhookEnvironment } from '../../flow/webhooks/webhook-environment.js';
import { newPostgresDatabase, type PostgresDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { serviceProcesses } from '../../support/service-process.js';
import { webhookReceivers } from '../../support/webhooks/receiver.js';
import { readerOf } from './readers.js';
import type { Strike } from './strike.js';
import { Traffic } from './traffic.js';
import {
  type DomainNode,
  startTwoDomains,
  type TwoDomains,
  untilKnownAway,
  untilServing,
} from './two-domains.js';

const services = serviceProcesses();
const newReceiver = webhookReceivers();

const READERS = 32;
const SOME_ANSWERS = 10;

describe('readers of the gateway, with two domains behind the edge,', () => {
  let database: PostgresDatabase;
  let nodes: TwoDomains;
  let traffic: Traffic;

  beforeAll(async () => {
    database = await newPostgresDatabase();
    nodes = await startTwoDomains(services, database.url);
    const { edge, domains } = nodes;
    traffic = new Traffic();
    const reader = readerOf({ settings: edge.settings, demo: () => domains[0].process.demo() });
    traffic.add('reader', READERS, () => reader);
    await untilServing(edge, ...domains);
  });
  afterAll(async () => {
    traffic?.close();
    await database?.drop();
  });

  test.each<[Strike, 0 | 1]>([
    ['killed', 0],
    ['killed', 1],
    ['frozen', 0],
    ['frozen', 1],
    ['drained', 0],
    ['drained', 1],
  ])('are all answered while one of them is %s (%i)', async (how, index) => {
    const { edge, domains } = nodes;
    const struck = domains[index];
    const other = domains[1 - index] as DomainNode;
    const phase = traffic.begin({ isCalm: true });
    await traffic.untilEachAnswered(1);
    await strike(how, struck);
    await untilKnownAway(edge, struck);
    expect(await edge.readiness()).toMatchObject({
      status: 'ready',
      checks: { domain: { ok: true, detail: expect.stringContaining(struck.address) } },
    });
    expect(await readsAt(other)).toBe(true);
    const beside = phase.answered;
    await eventually('more answers', () => phase.answered > beside + SOME_ANSWERS * READERS);
    await back(how, struck);
    await untilServing(edge, ...domains);
    expect(await readsAt(struck)).toBe(true);
    expect(traffic.faults).toEqual([]);
    expect([phase.refused, phase.cut]).toEqual([0, 0]);
    // On a busy machine, either may just be late with an answer.
    await eventually('both ready', async () =>
      isDeepStrictEqual(await edge.readiness(), { status: 'ready', checks: { domain: { ok: true } } }),
    );
  });

  test('leave the deliveries to whichever domain is left: the worker claims there', async () => {
    const { worker, domains, edge } = nodes;
    const [struck, other] = domains;
    await traffic.seldomDuring(async () => {
      await strike('killed', struck);
      await untilKnownAway(worker, struck);
      const lines = other.process.output.lines().length;
      const environment = new WebhookEnvironment(other.process, newReceiver);
      const { receiver } = await environment.subscribe();
      const clientId = await environment.newClient(instanceIds.harborlight);
      await receiver.next(({ event }) => event.entity.id === clientId);
      environment.close();
      await eventually('a claim', () =>
        other.process.output
          .lines()
          .slice(lines)
          .some(({ method, code }) => String(method).endsWith('/ClaimDeliveries') && code === 'OK'),
      );
      await struck.start();
      await untilServing(worker, ...domains);
      await untilServing(edge, ...domains);
    });
  });

  test('are refused while both are away, and answered again when one is back', async () => {
    const { domains, edge } = nodes;
    traffic.begin({ mayBeDone: true });
    for (const domain of domains) {
      await strike('killed', domain);
    }
    await traffic.untilEachRefused();
    expect(await (await fetch(`${edge.opsUrl}/readyz`)).json()).toMatchObject({ status: 'unready' });
    await domains[0].start();
    await edge.readiness();
    const calm = traffic.begin({ isCalm: true });
    await traffic.untilEachAnswered(SOME_ANSWERS);
    expect(traffic.faults).toEqual([]);
    expect([calm.refused, calm.cut]).toEqual([0, 0]);
    await traffic.end();
  });

  async function strike(how: Strike, { process }: DomainNode): Promise<void> {
    if (how === 'frozen') {
      process.signal('SIGSTOP');
      return;
    }
    process.signal(how === 'killed' ? 'SIGKILL' : 'SIGTERM');
    const { code } = await process.exited;
    expect(code).toBe(how === 'killed' ? null : 0);
  }

  async function back(how: Strike, struck: DomainNode): Promise<void> {
    if (how === 'frozen') {
      struck.process.signal('SIGCONT');
    } else {
      await traffic.seldomDuring(() => struck.start());
    }
  }

  /** Whether it reads for the edge from now on. */
  async function readsAt({ process }: DomainNode): Promise<boolean> {
    const lines = process.output.lines().length;
    return eventually('reads at the domain', () =>
      process.output
        .lines()
        .slice(lines)
        .some(({ method }) => String(method).includes('DirectoryService/Read/')),
    );
  }
});
