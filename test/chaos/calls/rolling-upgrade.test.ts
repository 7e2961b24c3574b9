import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AttackedService, credentialsOf, type Tokens } from '../../attacks/attacked-service.js';
import { newPostgresDatabase, type PostgresDatabase } from '../../support/databases.js';
import { buildNextRelease, NEXT_MIGRATION } from '../../support/next-release.js';
import { mainFile, serviceProcesses } from '../../support/service-process.js';
import { readerOf } from './readers.js';
import { Traffic, type Turn } from './traffic.js';
import { startTwoDomains, type TwoDomains, untilServing } from './two-domains.js';

const services = serviceProcesses();

const READERS = 24;
const REFRESHERS = 8;
const SOME_ANSWERS = 10;

describe('callers of a service whose domains are replaced one after the other', () => {
  let database: PostgresDatabase;
  let nodes: TwoDomains;
  let traffic: Traffic;
  let nextRelease: string;

  beforeAll(async () => {
    nextRelease = await buildNextRelease();
    database = await newPostgresDatabase();
    nodes = await startTwoDomains(services, database.url);
    const { edge, domains } = nodes;
    await untilServing(edge, ...domains);
    traffic = new Traffic();
    const reader = readerOf(domains[0].process);
    traffic.add('reader', READERS, () => reader);
    const turns = (await refreshers(REFRESHERS)).values();
    traffic.add('refresher', REFRESHERS, () => turns.next().value as Turn);
  }, 180_000);
  afterAll(async () => {
    traffic?.close();
    await database?.drop();
  });

  test.each([
    ['by the next release, which migrates the database', () => nextRelease],
    ['by this release again, on the way back', () => mainFile],
    ['by the next release once more', () => nextRelease],
  ])('are all answered: %s', async (_, main) => {
    const { edge, domains } = nodes;
    const phase = traffic.begin({ isCalm: true });
    for (const domain of domains) {
      domain.process.signal('SIGTERM');
      expect((await domain.process.exited).code).toBe(0);
      await domain.start(main());
      await untilServing(edge, ...domains);
      await traffic.untilEachAnswered(SOME_ANSWERS);
    }
    expect(traffic.faults).toEqual([]);
    expect([phase.refused, phase.cut]).toEqual([0, 0]);
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

  /** Each of a grant of its own. */
  async function refreshers(count: number): Promise<Turn[]> {
    const service = new AttackedService(nodes.domains[0].process);
    const { dashboard, port } = service;
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
