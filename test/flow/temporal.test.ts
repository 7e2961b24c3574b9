import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import {
  isRunning,
  processesWith,
  type ServiceProcess,
  serviceProcesses,
} from '../support/service-process.js';
import { describeWith } from '../support/toolchains.js';

const services = serviceProcesses();

describeWith('temporal', 'the Temporal server that a demo environment runs for itself', (executable) => {
  let service: ServiceProcess;

  beforeAll(async () => {
    const directory = services.newDirectory();
    symlinkSync(executable, join(directory, 'temporal'));
    service = await services.launch({
      env: {
        PATH: `${directory}:${process.env.PATH}`,
        TEMPORAL_ADDRESS: undefined,
        PURGE_INTERVAL: '1s',
      },
    });
    await service.errors.nextText('Temporal has joined.');
  });

  test('is joined by the worker, and then nothing is degraded any more', async () => {
    expect(await service.joinedTemporal()).toMatchObject({
      roles: { worker: { checks: { temporal: { ok: true } } } },
    });
    await eventually('the backlog is told', async () => {
      const metrics = await (await fetch(`${service.opsUrl}/metrics`)).text();
      return /^temporal_task_queue_backlog\{type="activity",role="worker"\} \d+$/m.test(metrics) && metrics;
    }).then((metrics) => expect(metrics).toMatch(/^temporal_worker_polling\{role="worker"\} 1$/m));
  });

  test('runs the purge, with a request id that links the log of the domain to the workflow', async () => {
    const line = await service.output.nextLine(
      ({ role, method, code }) =>
        role === 'domain' && String(method).endsWith('/PurgeExpired') && code === 'OK',
    );
    expect(line).toMatchObject({ requestId: expect.stringMatching(/^purge.*\/batch-1\/\d+$/) });
  });

  test('is gone soon after its parent was killed, and before the next one starts', async () => {
    // Its database is in the directory of this test, unlike those of other servers.
    const servers = processesWith(join(service.dataDir, 'temporal.db'));
    expect(servers.length).toBeGreaterThan(0);
    const groupFile = join(service.dataDir, 'run/temporal.group');
    expect(servers).toContain(Number(readFileSync(groupFile, 'utf8')));
    service.signal('SIGKILL');
    const next = await services.start({
      env: { ...service.settings, TEMPORAL_ADDRESS: undefined },
      dataDir: service.dataDir,
    });
    expect(servers.filter(isRunning)).toEqual([]);
    expect(next.demo().temporalUiUrl).toContain(`:${service.settings.TEMPORAL_UI_PORT}/`);
    await next.errors.nextText('Temporal has joined.');
    await next.stop();
    expect(existsSync(groupFile)).toBe(false);
  });
});
