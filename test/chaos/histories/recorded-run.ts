import { openPostgres } from '../../../src/store/dialects/postgres/postgres.js';
import { AttackedService, BEHIND_PROXY } from '../../attacks/attacked-service.js';
import { newPostgresDatabase, PATIENT } from '../../support/databases.js';
import { randomFrom } from '../../support/random-from.js';
import type { serviceProcesses } from '../../support/service-process.js';
import { stallingProxy } from '../../support/stalling-proxy.js';
import { startTwoDomains, untilServing } from '../calls/two-domains.js';
import { PatientClient } from '../patient-client.js';
import { Board } from './board.js';
import { runClients } from './clients.js';
import { History, type Kind, type Operation } from './history.js';
import { Outages, type Strike } from './outages.js';
import { codePlanter } from './planted-codes.js';
import { SlowWays } from './slow-ways.js';

export interface RunSettings {
  seed: number;
  clients: number;
  /** At least; there are more while strikes are left. */
  operations: number;
  strikes: readonly Strike[];
  progress: (step: string) => void;
}

export interface RecordedRun {
  operations: readonly Operation[];
  struck: readonly Strike[];
  lateAnswers: number;
  /** Of spent tokens, too late to be repetitions. */
  lateUses: number;
}

/** Clients at an edge with two domains on one PostgreSQL, each with its own way to it. */
export async function recordedRun(
  services: ReturnType<typeof serviceProcesses>,
  { seed, clients, operations, strikes, progress }: RunSettings,
): Promise<RecordedRun> {
  const { url, drop } = await newPostgresDatabase();
  const ways = [await stallingProxy(url), await stallingProxy(url)] as const;
  const database = await openPostgres(url, () => undefined, PATIENT);
  try {
    const nodes = await startTwoDomains(services, url, {
      databaseUrls: [ways[0].url, ways[1].url],
      env: BEHIND_PROXY.env,
    });
    await untilServing(nodes.edge, ...nodes.domains);
    const on = new AttackedService(nodes.domains[0].process);
    const history = new History();
    const slowWays = new SlowWays(ways, history, seed);
    const board = new Board(await codePlanter(database, on), randomFrom(seed), (id) => slowWays.slow(id));
    const outages = new Outages({ nodes, ways, slowWays, history });
    const patient = new PatientClient<Kind>(nodes.edge);
    const isEnough = () =>
      history.operations.length >= operations && outages.struck.length === strikes.length;
    await Promise.all([
      runClients({ count: clients, seed, on, patient, board, history }, isEnough),
      outages.make(strikes, progress),
    ]);
    const { lateUses } = board;
    return { operations: history.operations, struck: outages.struck, lateAnswers: slowWays.late, lateUses };
  } finally {
    await database.close();
    for (const way of ways) {
      way.close();
    }
    await drop();
  }
}
