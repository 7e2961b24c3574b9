import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AttackedService, credentialsOf, type Tokens } from '../../attacks/attacked-service.js';
import { connectionIds } from '../../flow/webhooks/webhook-environment.js';
import { newPostgresDatabase, type PostgresDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { exchange } from '../../support/http-exchange.js';
import { buildNextRelease, NEXT_ENTITY_TYPE, NEXT_MIGRATION } from '../../support/next-release.js';
import { mainFile, type ServiceProcess, serviceProcesses } from '../../support/service-process.js';
import { WebhookReceiver } from '../../support/webhooks/receiver.js';
import { CLIENT, subscribe, UserWriter } from '../promotion/load.js';
import { Balancer } from './balancer.js';
import { readerOf } from './readers.js';
import { Traffic, type Turn } from './traffic.js';
import { type ServiceNode, startTwoDomains, type TwoDomains, untilServing } from './two-domains.js';

interface Change {
  cursor: string;
  entity: { type: string; id: string };
}

const services = serviceProcesses();

const READERS = 24;
const REFRESHERS = 8;
const SOME_ANSWERS = 4;
/** The test ends it when each caller has another edge, as a delay does that is long enough. */
const DRAIN_DELAY = '10m';
/** The first may be the answer to a question from before. */
const ANSWERS_UNTIL_MOVED = 2;
/**
 * The edge ends the calls of a domain that a busy machine has stopped for over a second, and repeats reads
 * at the other. Each refresher has one call under way.
 */
const STOOD_STILL = /does not answer$/;
/** The edge's reason where a busy machine only slowed a domain down. It does not repeat these reads. */
const LATE = /^DEADLINE_EXCEEDED: /;
/** As many as one standstill of the machine may leave. */
const MOST_LATE_READS = 8;

describe('callers of a service whose nodes are replaced one after the other', () => {
  let database: PostgresDatabase;
  let nodes: TwoDomains;
  let edges: readonly [ServiceNode, ServiceNode];
  let balancer: Balancer;
  let traffic: Traffic;
  let receiver: WebhookReceiver;
  let gatewayPort: number;
  let nextRelease: string;
  /** Of the sequence of changes: where it ended at first, and behind what only the next release knows. */
  const cursors = new Set<string>();
  const started = new Set<ServiceProcess>();

  beforeAll(async () => {
    nextRelease = await buildNextRelease();
    database = await newPostgresDatabase();
    nodes = await startTwoDomains(services, database.url, { edgeEnv: { DRAIN_DELAY } });
    edges = [nodes.firstEdge, await nodes.newEdge()];
    balancer = new Balancer(edges);
    await untilAllServe();
    traffic = new Traffic();
    const demo = nodes.domains[0].process.demo();
    gatewayPort = await balancer.listen('GATEWAY_PORT');
    const reader = readerOf({ settings: { GATEWAY_PORT: String(gatewayPort) }, demo: () => demo });
    traffic.add('reader', READERS, () => reader);
    const turns = (await refreshers(REFRESHERS, await balancer.listen('SIGN_ON_PORT'))).values();
    traffic.add('refresher', REFRESHERS, () => turns.next().value as Turn);
    receiver = await WebhookReceiver.start();
    await subscribe(nodes.domains[0].process, receiver.url);
    cursors.add(await endOfChanges());
  });
  afterAll(async () => {
    traffic?.close();
    balancer?.close();
    await receiver?.close();
    await database?.drop();
  });

  test.each([
    ['by the next release, which migrates the database', () => nextRelease],
    ['by this release again, on the way back', () => mainFile],
    ['by the next release once more', () => nextRelease],
  ])('are all answered: %s', async (_, main) => {
    const { domains } = nodes;
    const phase = traffic.begin({ isCalm: true });
    const endedBefore = endedCalls().length;
    // So edges of each release ask domains of both.
    for (const node of [domains[0], edges[0], edges[1], nodes.workerNode, domains[1]]) {
      const refusedBefore = phase.refused;
      node.process.signal('SIGTERM');
      if (edges.includes(node)) {
        await balancer.untilUnready(node);
        await traffic.untilEachAnsweredAgain(ANSWERS_UNTIL_MOVED);
        node.process.signal('SIGTERM');
      }
      expect((await node.process.exited).code).toBe(0);
      await traffic.seldomDuring(() => node.start(main()));
      await untilAllServe();
      await traffic.untilEachAnsweredAgain(SOME_ANSWERS);
      expect(phase.refused - refusedBefore).toBeLessThanOrEqual(REFRESHERS);
      await readOn();
    }
    await newUserIsTold();
    expect(traffic.faults).toEqual([]);
    expect(phase.cut).toBe(0);
    await eventually('why requests were refused', () => endedCalls().length - endedBefore >= phase.refused);
    const late = new Set(endedCalls().flatMap(([id, reason]) => (LATE.test(reason) ? [id] : [])));
    expect(endedCalls().filter(([id, reason]) => !late.has(id) && !STOOD_STILL.test(reason))).toEqual([]);
    const reads = [...phase.refusals].filter((id) => String(id).startsWith('reader'));
    expect(reads.filter((id) => !late.has(id))).toEqual([]);
    expect(reads.length).toBeLessThanOrEqual(MOST_LATE_READS);
    for (const id of late) {
      await eventually(`the call ${id} in a domain`, () =>
        lines().some(({ msg, requestId }) => msg === 'call' && requestId === id),
      );
    }
    const isBehind = main() === mainFile;
    const [first = ''] = cursors;
    await eventually('what only the next release knows, and only there', async () => {
      const types = (await changesAfter(first)).map(({ entity }) => entity.type);
      return types.includes(NEXT_ENTITY_TYPE) !== isBehind;
    });
    await readOn();
    expect(cursors.size).toBeGreaterThan(1);
    for (const { process } of domains) {
      expect(await process.readiness()).toMatchObject({
        status: isBehind ? 'degraded' : 'ready',
        checks: {
          schema: { ok: true },
          version: isBehind ? { ok: false, detail: expect.stringContaining(NEXT_MIGRATION) } : { ok: true },
        },
      });
    }
  });

  const lines = () => [...started].flatMap(({ output }) => output.lines());

  /** The requests refused because a domain did not answer, with the reason, by the logs of the edges. */
  function endedCalls(): [id: unknown, reason: string][] {
    return lines()
      .filter(({ msg }) => msg === 'the domain did not answer')
      .map(({ requestId, internal }) => [requestId, String(internal)]);
  }

  async function untilAllServe(): Promise<void> {
    for (const { process } of [...edges, ...nodes.domains]) {
      started.add(process);
    }
    await balancer.untilAllReady();
    const callers = [nodes.worker, ...edges.map(({ process }) => process)];
    await Promise.all(callers.map((process) => untilServing(process, ...nodes.domains)));
  }

  /** By an edge and a domain of either release. */
  async function changesAfter(cursor: string): Promise<Change[]> {
    const after = cursor === '' ? '' : `?after=${cursor}`;
    const path = `/v1/instance-integrations/${connectionIds.harborlight}/changes${after}`;
    const { apiKeys } = nodes.domains[0].process.demo();
    const key = apiKeys.find((each) => each.instanceIntegrationIds.includes(connectionIds.harborlight))?.key;
    const { status, body } = await eventually('the changes', async () => {
      const answer = await exchange(gatewayPort, path, { headers: { 'x-api-key': key } });
      return answer.status !== 503 && answer;
    });
    expect([status, body]).toEqual([200, expect.stringMatching(/^\[/)]);
    return JSON.parse(body) as Change[];
  }

  async function endOfChanges(): Promise<string> {
    for (let cursor = ''; ; ) {
      const last = (await changesAfter(cursor)).at(-1);
      if (last === undefined) {
        return cursor;
      }
      cursor = last.cursor;
    }
  }

  /** From each cursor that a domain of either release gave. */
  async function readOn(): Promise<void> {
    for (const cursor of cursors) {
      for (const change of await changesAfter(cursor)) {
        if (change.entity.type === NEXT_ENTITY_TYPE) {
          cursors.add(change.cursor);
        }
      }
    }
  }

  /** In the sequence of changes, and by the worker. */
  async function newUserIsTold(): Promise<void> {
    const { process } = nodes.domains[0];
    const address = `127.0.0.1:${process.settings.GRPC_PORT}`;
    const writer = new UserWriter(address, process.demo().platformToken, CLIENT);
    await writer.run(() => writer.acknowledged.length > 0);
    const [id] = writer.acknowledged;
    await receiver.next(({ event }) => event.entity.id === id);
    const [first = ''] = cursors;
    await eventually('the change of a new user', async () =>
      (await changesAfter(first)).some(({ entity }) => entity.id === id),
    );
  }

  /** Each of a grant of its own. */
  async function refreshers(count: number, port: number): Promise<Turn[]> {
    const service = new AttackedService(nodes.domains[0].process);
    const { dashboard } = service;
    const userAgent = await service.signedIn();
    const turns: Turn[] = [];
    while (turns.length < count) {
      let tokens = await service.tokens(userAgent, dashboard);
      turns.push(async (caller) => {
        const fields = {
          ...credentialsOf(dashboard),
          grant_type: 'refresh_token',
          refresh_token: tokens.refresh_token,
        };
        const { body } = await caller.ask({ port, path: '/auth/token', json: JSON.stringify(fields) });
        tokens = body === undefined ? tokens : (JSON.parse(body) as Tokens);
      });
    }
    return turns;
  }
});
