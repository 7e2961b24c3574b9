import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import { Sqlite } from '../../../src/store/better-sqlite3.js';
import type { Comparison } from '../harness/comparison.js';
import type { Scope } from '../harness/scope.js';
import { databaseIn, dataDirIn, MAIN, type RunningService, startService } from '../subjects/service.js';
import { makeWorkplace } from '../subjects/workplace.js';

const WORKERS = 100_000;
const NAME = 'import of 100,000 workers (workers/s)';

/** As an operator imports them: from a file, with the command, into a service that serves. */
export const importOfWorkers: Comparison = {
  rows: { [NAME]: { referenceName: 'their bare rows, 128 to a commit', goal: 0.03, higherIsBetter: true } },
  warmUpRounds: 0,
  rounds: 1,
  setUp: async (scope) => ({
    ours: () => scope.within(async (round) => ({ [NAME]: WORKERS / (await secondsOfImport(round)) })),
    reference: () => scope.within(async (round) => ({ [NAME]: WORKERS / (await secondsOfInserts(round)) })),
  }),
};

async function secondsOfImport(scope: Scope): Promise<number> {
  const workplace = makeWorkplace(scope);
  const service = await startService(scope, workplace);
  const file = join(workplace, 'workers.jsonl');
  const { clientId } = reading(workplace, (database) =>
    database.prepare('SELECT id AS clientId FROM clients LIMIT 1').get(),
  ) as { clientId: string };
  writeFileSync(file, Array.from({ length: WORKERS }, (_, index) => lineOf(clientId, index)).join('\n'));
  const startedAt = performance.now();
  await runImport(service, file, workplace);
  return (performance.now() - startedAt) / 1_000;
}

function lineOf(clientId: string, index: number): string {
  const worker = {
    clientId,
    email: `worker.${index}@example.com`,
    firstName: 'Maria',
    lastName: `Keller ${index}`,
    jobTitles: ['Baker'],
  };
  return JSON.stringify({ worker });
}

async function runImport({ env }: RunningService, file: string, workplace: string): Promise<void> {
  const command = spawn(process.execPath, [MAIN, 'import', file, '--json'], {
    env: { ...env, PATH: process.env.PATH, DATA_DIR: dataDirIn(workplace) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said: string[] = [];
  command.stdout.setEncoding('utf8').on('data', (text: string) => said.push(text));
  const [status] = await once(command, 'close');
  const { imported } = JSON.parse(said.join('') || '{}') as { imported?: number };
  if (status !== 0 || imported !== WORKERS) {
    throw new Error(`The import ended with ${status} after ${imported} workers.`);
  }
}

/** An account, a worker and an event each, and nothing thought about. */
async function secondsOfInserts(scope: Scope): Promise<number> {
  const workplace = makeWorkplace(scope);
  const service = await startService(scope, workplace);
  await service.stop();
  const database = new Sqlite(databaseIn(workplace));
  try {
    database.pragma('synchronous = FULL');
    const { clientId, instanceId } = database
      .prepare('SELECT id AS clientId, instance_id AS instanceId FROM clients LIMIT 1')
      .get() as { clientId: string; instanceId: string };
    const account = database.prepare(
      `INSERT INTO accounts (id, worker_profile_id, email, email_key, first_name, last_name, version, created_at, updated_at)
       VALUES (?, ?, ?, ?, 'Maria', 'Keller', 'v', 1, 1)`,
    );
    const worker = database.prepare(
      `INSERT INTO workers (id, client_id, account_id, first_name, last_name, full_name, email, job_titles, version, created_at, updated_at)
       VALUES (?, ?, ?, 'Maria', 'Keller', 'Maria Keller', ?, '["Baker"]', 'v', 1, 1)`,
    );
    const event = database.prepare(
      `INSERT INTO events (id, type, occurred_at, instance_id, client_id, entity_type, entity_id, data) VALUES (?, 'worker.onboarded', 1, ?, ?, 'worker', ?, ?)`,
    );
    const insert = database.transaction((from: number, to: number) => {
      for (let index = from; index < to; index += 1) {
        const email = `worker.${index}@example.com`;
        account.run(`acc_${index}`, `wpf_${index}`, email, email);
        worker.run(`wrk_${index}`, clientId, `acc_${index}`, email);
        event.run(`evt_${index}`, instanceId, clientId, `wrk_${index}`, lineOf(clientId, index));
      }
    });
    const startedAt = performance.now();
    for (let from = 0; from < WORKERS; from += 128) {
      insert.immediate(from, Math.min(from + 128, WORKERS));
    }
    return (performance.now() - startedAt) / 1_000;
  } finally {
    database.close();
  }
}

function reading<T>(workplace: string, work: (database: BetterSqlite3.Database) => T): T {
  const database = new Sqlite(databaseIn(workplace), { readonly: true });
  try {
    return work(database);
  } finally {
    database.close();
  }
}
