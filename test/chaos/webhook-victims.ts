import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import BetterSqlite3 from 'better-sqlite3';
import type { DevServer } from '../../workflows/dev-server/start.js';
import { eventually } from '../support/eventually.js';
import { isRunning, processesWith, type Role, type ServiceProcess } from '../support/service-process.js';
import { startServer } from '../workflows/temporal-fixture.js';
import { isReady } from './patient-client.js';
import type { Strike } from './webhook-strikes.js';

const NAMESPACE = 'demo';
const LIMIT_MS = 60_000;

/** Those who can be killed: the roles, which their parent starts again, and the Temporal server, which is started again here. */
export class Victims {
  readonly #options: { address: string; databaseFile: string; namespace: string };

  private constructor(
    private readonly executable: string,
    private temporal: DevServer,
    databaseFile: string,
    private service?: ServiceProcess,
  ) {
    this.#options = { address: temporal.address, databaseFile, namespace: NAMESPACE };
  }

  static async start(executable: string, databaseFile: string): Promise<Victims> {
    const temporal = await startServer(executable, { databaseFile, namespace: NAMESPACE });
    return new Victims(executable, temporal, databaseFile);
  }

  get temporalAddress(): string {
    return this.#options.address;
  }

  of(service: ServiceProcess): this {
    this.service = service;
    return this;
  }

  /** Gone, as far as the system knows. Answers when that was, and how many attempts had begun then whose end was not recorded. */
  async kill(target: Strike['target']): Promise<{ at: number; inFlight: number }> {
    if (target === 'temporal') {
      process.kill(this.temporal.pid, 'SIGKILL');
      const at = Date.now();
      await this.temporal.exited;
      return { at, inFlight: this.#inFlight(at) };
    }
    const [pid = 0] = this.#pidsOf(target);
    process.kill(pid, 'SIGKILL');
    const at = Date.now();
    await eventually(`the ${target} gone`, () => !isRunning(pid));
    return { at, inFlight: this.#inFlight(at) };
  }

  /** What the database says, whoever lives: of those begun until then, the ones that are still under way. */
  #inFlight(at: number): number {
    const database = new BetterSqlite3(join(this.service?.dataDir ?? '', 'integration.db'), {
      readonly: true,
    });
    try {
      const statement = database.prepare<[number], { count: number }>(
        'select count(*) as count from deliveries where lease_until is not null and attempt_started_at <= ?',
      );
      return statement.get(at)?.count ?? 0;
    } finally {
      database.close();
    }
  }

  /** There again, and whoever needs it has found it. */
  async back(target: Strike['target']): Promise<void> {
    if (target === 'temporal') {
      this.temporal = await startServer(this.executable, this.#options);
      return;
    }
    const service = this.service as ServiceProcess;
    await eventually(
      `the ${target} back`,
      () => this.#pidsOf(target).length > 0 && isReady(service),
      LIMIT_MS,
    );
  }

  /** Settles when no retry is under way any more. */
  async untilNoWorkflowRuns(limitMs: number): Promise<void> {
    const connection = await Connection.connect({ address: this.temporalAddress });
    try {
      const { workflow } = new Client({ connection, namespace: NAMESPACE });
      const running = `ExecutionStatus = 'Running' AND WorkflowId STARTS_WITH 'webhook-retry/'`;
      await eventually(
        'the end of every workflow',
        async () => (await workflow.count(running)).count === 0,
        limitMs,
      );
    } finally {
      await connection.close();
    }
  }

  stop(): Promise<void> {
    return this.temporal.stop();
  }

  #pidsOf(role: Role): number[] {
    return processesWith(`${this.service?.dataDir}/run/${role}.ops.sock`).filter(isRunning);
  }
}
