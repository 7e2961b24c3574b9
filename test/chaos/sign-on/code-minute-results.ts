import { Client, Connection } from '@temporalio/client';
import { type CodeCounts, codeExpiryWorkflowId } from '../../../workflows/contract.js';
import { eventually } from '../../support/eventually.js';
import type { ServiceProcess } from '../../support/service-process.js';
import { startServer } from '../../workflows/temporal-fixture.js';

/** The Temporal that a service used, and the codes according to its workflows. */
export class CodeMinuteResults {
  private constructor(
    private readonly client: Client,
    readonly stop: () => Promise<void>,
  ) {}

  static async startedFor({ settings }: ServiceProcess, executable: string): Promise<CodeMinuteResults> {
    const namespace = 'demo';
    const server = await startServer(executable, { address: settings.TEMPORAL_ADDRESS, namespace });
    const connection = await Connection.connect({ address: server.address });
    return new CodeMinuteResults(new Client({ connection, namespace }), async () => {
      await connection.close();
      await server.stop();
    });
  }

  /** When the workflow of that minute is done, which has to be started first. */
  of(minute: number): Promise<CodeCounts> {
    const text = `${new Date(minute).toISOString().slice(0, 16)}Z`;
    const handle = this.client.workflow.getHandle(codeExpiryWorkflowId(text));
    return eventually(`the workflow of ${text}`, () => handle.describe().catch(() => undefined)).then(
      () => handle.result() as Promise<CodeCounts>,
    );
  }
}
