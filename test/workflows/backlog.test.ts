import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { watchBacklog } from '../../workflows/backlog.js';
import { TASK_QUEUE } from '../../workflows/contract.js';
import type { DevServer } from '../../workflows/dev-server/start.js';
import { describeWith } from '../support/toolchains.js';
import { connectClient, eventually, quickPurge, startServer } from './temporal-fixture.js';

describeWith('temporal', 'the backlog at Temporal', (executable) => {
  let server: DevServer;
  let client: Client;
  let told: (Record<string, number> | undefined)[];

  beforeAll(async () => {
    server = await startServer(executable);
    client = await connectClient(server.address);
  });
  afterAll(async () => {
    await client?.connection.close();
    await server?.stop();
  });

  /** Ends once it has reported the expected counts. */
  async function watchUntil(isThere: (counts: Record<string, number> | undefined) => boolean) {
    told = [];
    const stop = new AbortController();
    const watching = watchBacklog((counts) => told.push(counts), client.workflow, stop.signal, 20);
    await eventually('the backlog is told', () => told.some(isThere));
    stop.abort();
    await watching;
  }

  test('is told while there is no worker, and no longer once the watch is over', async () => {
    await watchUntil((counts) => counts?.workflow === 0 && counts.activity === 0);
    await client.workflow.start('purge', {
      workflowId: 'waits',
      taskQueue: TASK_QUEUE,
      args: [quickPurge],
    });
    await watchUntil((counts) => counts?.workflow === 1);
    expect(told.at(-1)).toBeUndefined();
  });

  test('is not told while the server does not answer', async () => {
    const { connection } = client;
    const stop = new AbortController();
    const counts: unknown[] = [];
    const refusing = {
      options: client.workflow.options,
      connection: { ...connection, withAbortSignal: () => Promise.reject(new Error('away')) },
    } as never;
    await watchBacklog(
      (found) => {
        counts.push(found);
        stop.abort();
      },
      refusing,
      stop.signal,
    );
    expect(counts).toEqual([undefined, undefined]);
  });
});
