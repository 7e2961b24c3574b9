import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { Sqlite } from '../../../src/store/better-sqlite3.js';
import type { DevServer } from '../../../workflows/dev-server/start.js';
import { eventually } from '../../support/eventually.js';
import { isRunning, processesWith, type Role, type ServiceProcess } from '../../support/service-process.js';
import { startServer } from '../../workflows/temporal-fixture.js';
import { isReady } from '../patient-client.js';
import type { Strike } from './strikes.js';

const NAMESPACE = 'demo';

/** The processes to kill: roles, which their parent restarts, and the Temporal server, restarted here. */
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

  /** Kills it and waits for its end. Returns the time, and the number of attempts without a recorded end. */
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

  /** By the database: attempts begun until then that are still running. */
  #inFlight(at: number): number {
    const database = new Sqlite(join(this.service?.dataDir ?? '', 'integration.db'), {
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

  /** Waits until it has restarted and its clients are connected. */
  async back(target: Strike['target']): Promise<void> {
    if (target === 'temporal') {
      this.temporal = await startServer(this.executable, this.#options);
      return;
    }
    const service = this.service as ServiceProcess;
    await eventually(`the ${target} back`, () => this.#pidsOf(target).length > 0 && isReady(service));
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
