import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MaintenanceServiceService } from '../../../generated/proto/integration/maintenance/v1/maintenance.js';
import { DeliveryStatus } from '../../../generated/proto/integration/webhooks/v1/deliveries.js';
import { RpcChannel } from '../../../src/rpc/client.js';
import { AttackedService, BEHIND_PROXY } from '../../attacks/attacked-service.js';
import { instanceIds } from '../../flow/sign-on/demo-environment.js';
import { WebhookEnvironment } from '../../flow/webhooks/webhook-environment.js';
import { newPostgresDatabase, type PostgresDatabase } from '../../support/databases.js';
import { roleTokens } from '../../support/role-tokens.js';
import { type StartOptions, serviceProcesses } from '../../support/service-process.js';
import { untilAnswered } from '../../support/turned-away.js';
import { answerWith, atFirst, webhookReceivers } from '../../support/webhooks/receiver.js';
import { startTwoDomains, type TwoDomains, untilServing } from '../calls/two-domains.js';
import { refresh } from '../sign-on/families.js';
import { busyClient, SignInFlow } from '../sign-on/sign-in-flow.js';

const services = serviceProcesses();
const newReceiver = webhookReceivers();

const TEN_MINUTES_MS = 600_000;
/** Enough that each domain handles several. */
const SIGN_INS = 8;
const EVENTS = 6;
const RETRY_DELAY_MS = 2_000;

describe('two domains of which one is ten minutes ahead, an edge ten minutes behind and a worker ahead', () => {
  let database: PostgresDatabase;
  let nodes: TwoDomains;
  let demo: WebhookEnvironment;
  let on: AttackedService;

  beforeAll(async () => {
    database = await newPostgresDatabase();
    nodes = await startTwoDomains(services, database.url, {
      env: { ...BEHIND_PROXY.env, WEBHOOK_RETRY_DELAYS: `${RETRY_DELAY_MS}ms,${RETRY_DELAY_MS}ms` },
      domainEnvs: [{}, shifted(TEN_MINUTES_MS)],
      edgeEnv: shifted(-TEN_MINUTES_MS),
      workerEnv: shifted(TEN_MINUTES_MS),
    });
    await untilServing(nodes.edge, ...nodes.domains);
    const [{ process }] = nodes.domains;
    demo = new WebhookEnvironment(process, newReceiver);
    on = new AttackedService(process);
  });
  afterAll(async () => {
    demo?.close();
    await database?.drop();
  });

  test('accept codes and tokens of each other, also repeated, and lock no person out', async () => {
    const person = on.person('no access to Juniper');
    for (let signIns = 0; signIns < SIGN_INS; signIns += 1) {
      let family = await new SignInFlow(on, busyClient, person, on.dashboard).begin();
      for (let times = 0; times < 3; times += 1) {
        // The application repeats the refresh, as if the first answer was lost.
        const [answer, again] = [await refresh(on, family), await refresh(on, family)];
        expect(again.refreshToken).toBe(answer.refreshToken);
        family = answer;
      }
      const accessToken = family.accessTokens.at(-1) ?? '';
      expect(await untilAnswered(() => on.userinfo(accessToken))).toMatchObject({ status: 200 });
    }
    for (const { output } of nodes.domains.map(({ process }) => process)) {
      for (const wanted of ['Authorize', 'IssueTokens']) {
        await output.nextLine(({ method }) => String(method).split('/').at(-1) === wanted);
      }
    }
  });

  test('retry a webhook neither before its time nor ten minutes late', async () => {
    const to = await demo.subscribe({ eventTypes: ['client.*'] }, atFirst(2, answerWith(503)));
    for (let events = 0; events < EVENTS; events += 1) {
      await demo.newClient(instanceIds.harborlight, `Fennimore Tea ${events}`);
    }
    const { received } = to.receiver;
    const eventIds = await to.receiver.until('every event', () => {
      const ids = new Set(received.map(({ eventId }) => eventId));
      return ids.size === EVENTS ? [...ids] : undefined;
    });
    for (const eventId of eventIds) {
      const { delivery } = await demo.ended(to, eventId);
      expect(delivery).toMatchObject({ status: DeliveryStatus.DELIVERED, attemptsBegun: 3 });
      const times = received.filter((request) => request.eventId === eventId).map(({ at }) => at);
      const [first, second, third] = times as [number, number, number];
      expect(Math.min(second - first, third - second)).toBeGreaterThanOrEqual(RETRY_DELAY_MS / 2);
    }
  });

  test('the domain whose clock is ahead logs the difference', async () => {
    const [right, ahead] = nodes.domains.map(({ process }) =>
      process.output.lines().filter(({ msg }) => String(msg).includes('differs from that of PostgreSQL')),
    );
    expect(right).toEqual([]);
    expect(ahead).toEqual([expect.objectContaining({ level: 'warn', apartMs: expect.any(Number) })]);
    expect(Number(ahead?.[0]?.apartMs)).toBeGreaterThan(TEN_MINUTES_MS - 5_000);
  });

  test('the domain whose clock is ahead purges nothing, and says so once as an error', async () => {
    const seen = await Promise.all(
      nodes.domains.map(async ({ address, process: { output } }) => {
        const channel = new RpcChannel(address, roleTokens.MAINTENANCE_TOKEN);
        const { purgeExpired } = channel.clientOf(MaintenanceServiceService);
        const purges = ['purge-1', 'purge-2'].map(async (requestId) => {
          const [ended] = await Promise.allSettled([
            purgeExpired({ limit: 1 }, { requestId, deadlineMs: 60_000 }),
          ]);
          // The domain writes it after what else it logs about this call.
          await output.nextLine((line) => line.requestId === requestId && line.method !== undefined);
          return ended.status;
        });
        const statuses = await Promise.all(purges);
        channel.close();
        const told = output
          .lines()
          .filter(({ msg }) => String(msg).startsWith('the purge removes nothing: '));
        return { statuses, told };
      }),
    );
    expect(seen).toEqual([
      { statuses: ['fulfilled', 'fulfilled'], told: [] },
      {
        statuses: ['rejected', 'rejected'],
        told: [expect.objectContaining({ level: 'error', apartMs: expect.any(Number) })],
      },
    ]);
  });
});

/** The settings of a process whose clock is shifted by this time. */
function shifted(byMs: number): StartOptions['env'] {
  return {
    NODE_OPTIONS: `--require=${join(import.meta.dirname, 'shifted-clock.cjs')}`,
    CLOCK_SHIFT_MS: String(byMs),
  };
}
