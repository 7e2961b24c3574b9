import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AttackedService } from '../../attacks/attacked-service.js';
import { connectionIds } from '../../flow/webhooks/webhook-environment.js';
import { eventually } from '../../support/eventually.js';
import { type ServiceProcess, serviceProcesses } from '../../support/service-process.js';
import { untilAnswered } from '../../support/turned-away.js';
import { WebhookReceiver } from '../../support/webhooks/receiver.js';
import { startTwoDomains, type TwoDomains, untilServing } from '../calls/two-domains.js';
import { CLIENT, Follower, Session, subscribe, UserWriter } from './load.js';
import { type Pair, startPair } from './pair.js';

interface Check {
  ok: boolean;
  detail?: string;
}

const services = serviceProcesses();

const LIMIT_MS = 240_000;
const WRITERS = 2;
const SESSIONS = 6;
/** Of the sessions: they do nothing during the kill, so that the state of their tokens is known. */
const QUIET = 3;
const SOME_WRITES = 30;

// Each server has an address of its own below 127, which other systems do not have.
const describeOnLinux = process.platform === 'linux' ? describe : describe.skip;

describeOnLinux('when the primary is killed and its synchronous replica is promoted', () => {
  let pair: Pair;
  let nodes: TwoDomains;
  let service: AttackedService;
  let receiver: WebhookReceiver;
  let writers: UserWriter[];
  let sessions: Session[];
  let follower: Follower;
  let away: Record<'domain' | 'edge', Check>;
  const acknowledged = () => writers.flatMap((writer) => writer.acknowledged);

  beforeAll(async () => {
    pair = await startPair();
    // After the default wait of 30 s, an attempt that was lost with the primary would come too late.
    const env = { WEBHOOK_RETRY_DELAYS: '1s,1s' };
    nodes = await startTwoDomains(services, pair.url, { env });
    await untilServing(nodes.edge, ...nodes.domains);
    await untilServing(nodes.worker, ...nodes.domains);
    const [{ process: domain }] = nodes.domains;
    const demo = domain.demo();
    service = new AttackedService(domain);
    receiver = await WebhookReceiver.start();
    await subscribe(domain, receiver.url);
    const addresses = nodes.domains.map((node) => `127.0.0.1:${node.process.settings.GRPC_PORT}`);
    writers = Array.from(
      { length: WRITERS },
      (_, index) => new UserWriter(addresses[index % addresses.length] as string, demo.platformToken, CLIENT),
    );
    const instanceIntegrationId = connectionIds.harborlight;
    const apiKey = demo.apiKeys.find((key) => key.instanceIntegrationIds.includes(instanceIntegrationId));
    follower = new Follower({
      ...{ gatewayUrl: nodes.edge.gatewayUrl, apiKey: apiKey?.key ?? '', instanceIntegrationId },
    });
    const userAgent = await service.signedIn();
    sessions = [];
    while (sessions.length < SESSIONS) {
      const newCode = () => service.freshCode(userAgent, service.dashboard);
      sessions.push(await Session.begin(service, newCode));
    }
    await run();
  }, LIMIT_MS);
  afterAll(async () => {
    for (const node of nodes?.domains ?? []) {
      node.process.killGroup();
    }
    await receiver?.close();
    await pair?.stop();
  });

  test('the nodes say that the database is away, and some writes are refused', () => {
    expect(away).toEqual({
      domain: { ok: false, detail: expect.any(String) },
      edge: { ok: false, detail: expect.any(String) },
    });
    expect(writers.reduce((sum, { refused }) => sum + refused, 0)).toBeGreaterThan(0);
  });

  test('a reader of the changes is told once to begin again, and gets each acknowledged write', async () => {
    await eventually('all users', async () => {
      await follower.step();
      return acknowledged().every((id) => follower.users.has(id));
    });
    expect(follower.expired).toBe(1);
  });

  test('the event of each acknowledged write is delivered', async () => {
    const missing = () => {
      const told = new Set(receiver.received.map(({ event }) => event.entity?.id));
      return acknowledged().filter((id) => !told.has(id));
    };
    await eventually('all events', () => missing().length === 0);
    expect(receiver.faults).toEqual([]);
  });

  test('the newest refresh token of each session is accepted, and each spent one and each code refused', async () => {
    for (const session of sessions.slice(0, QUIET)) {
      const answer = await untilAnswered(() => service.refresh(service.dashboard, session.newest));
      expect(answer.status).toBe(200);
    }
    for (const { spent, code, newest } of sessions) {
      expect(newest).not.toBe('');
      const again = [
        await untilAnswered(() => service.refresh(service.dashboard, spent[0] ?? '')),
        await untilAnswered(() => service.redeem(code)),
      ];
      expect(again.map(({ status, body }) => [status, JSON.parse(body).error])).toEqual([
        [400, 'invalid_grant'],
        [400, 'invalid_grant'],
      ]);
    }
  });

  /** Some load, the kill, the promotion, and some load more. */
  async function run(): Promise<void> {
    let isOver = false;
    const end = () => isOver;
    const load = [...writers, ...sessions.slice(QUIET), follower].map((one) => one.run(end));
    // The failure of one is told at the end.
    const all = Promise.all(load);
    all.catch(() => undefined);
    const moreWrites = async () => {
      const before = writers.map((writer) => writer.acknowledged.length + SOME_WRITES);
      await eventually('more writes', () =>
        writers.every((writer, index) => writer.acknowledged.length >= (before[index] ?? 0)),
      );
    };
    await moreWrites();
    await pair.killPrimary();
    away = {
      domain: await unready(nodes.domains[0].process, 'database'),
      edge: await unready(nodes.edge, 'domain'),
    };
    pair.promote();
    await untilServing(nodes.edge, ...nodes.domains);
    await moreWrites();
    isOver = true;
    await all;
  }

  /** What it says of this check, once that makes it unready. */
  async function unready({ opsUrl }: ServiceProcess, name: string): Promise<Check> {
    return eventually(`the ${name} is away`, async () => {
      const { status, checks } = (await (await fetch(`${opsUrl}/readyz`)).json()) as {
        status: string;
        checks: Record<string, Check>;
      };
      return status === 'unready' && checks[name]?.ok === false && checks[name];
    });
  }
});
