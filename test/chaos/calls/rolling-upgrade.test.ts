import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AttackedService, credentialsOf, type Tokens } from '../../attacks/attacked-service.js';
import { newPostgresDatabase, type PostgresDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { buildNextRelease, NEXT_MIGRATION } from '../../support/next-release.js';
import { mainFile, type ServiceProcess, serviceProcesses } from '../../support/service-process.js';
import { Balancer } from './balancer.js';
import { readerOf } from './readers.js';
import { Traffic, type Turn } from './traffic.js';
import { type ServiceNode, startTwoDomains, type TwoDomains, untilServing } from './two-domains.js';

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

describe('callers of a service whose domains and edges are replaced one after the other', () => {
  let database: PostgresDatabase;
  let nodes: TwoDomains;
  let edges: readonly [ServiceNode, ServiceNode];
  let balancer: Balancer;
  let traffic: Traffic;
  let nextRelease: string;
  const startedEdges = new Set<ServiceProcess>();

  beforeAll(async () => {
    nextRelease = await buildNextRelease();
    database = await newPostgresDatabase();
    nodes = await startTwoDomains(services, database.url, { edgeEnv: { DRAIN_DELAY } });
    edges = [nodes.firstEdge, await nodes.newEdge()];
    balancer = new Balancer(edges);
    await untilAllServe();
    traffic = new Traffic();
    const demo = nodes.domains[0].process.demo();
    const GATEWAY_PORT = String(await balancer.listen('GATEWAY_PORT'));
    const reader = readerOf({ settings: { GATEWAY_PORT }, demo: () => demo });
    traffic.add('reader', READERS, () => reader);
    const turns = (await refreshers(REFRESHERS, await balancer.listen('SIGN_ON_PORT'))).values();
    traffic.add('refresher', REFRESHERS, () => turns.next().value as Turn);
  });
  afterAll(async () => {
    traffic?.close();
    balancer?.close();
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
    for (const node of [domains[0], edges[0], edges[1], domains[1]]) {
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
    }
    expect(traffic.faults).toEqual([]);
    expect(phase.cut).toBe(0);
    expect([...phase.refusedTo].map(String).filter((caller) => caller.startsWith('reader'))).toEqual([]);
    await eventually('why requests were refused', () => endedCalls().length - endedBefore >= phase.refused);
    expect(endedCalls().filter((reason) => !STOOD_STILL.test(reason))).toEqual([]);
    const isBehind = main() === mainFile;
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

  /** Why a domain did not answer, by the logs of the edges: one reason for each request refused so. */
  function endedCalls(): string[] {
    return [...startedEdges].flatMap(({ output }) =>
      output
        .lines()
        .filter(({ msg }) => msg === 'the domain did not answer')
        .map(({ internal }) => String(internal)),
    );
  }

  async function untilAllServe(): Promise<void> {
    for (const { process } of edges) {
      startedEdges.add(process);
    }
    await balancer.untilAllReady();
    await Promise.all(edges.map(({ process }) => untilServing(process, ...nodes.domains)));
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
