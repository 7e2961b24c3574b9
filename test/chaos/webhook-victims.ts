import { Client, Connection } from '@temporalio/client';
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

  /** Gone, as far as the system knows. */
  async kill(target: Strike['target']): Promise<void> {
    if (target === 'temporal') {
      process.kill(this.temporal.pid, 'SIGKILL');
      await this.temporal.exited;
      return;
    }
    const [pid = 0] = this.#pidsOf(target);
    process.kill(pid, 'SIGKILL');
    await eventually(`the ${target} gone`, () => !isRunning(pid));
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
