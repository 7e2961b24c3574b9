import { expect, test } from '@jest/globals';
import { serviceProcesses } from '../support/service-process.js';

const CANNOT_START = 78;

const services = serviceProcesses();

// A file of its own, because .ci/run starts it on the oldest Node too: Node decides how such a process ends.
test('wrong settings end it with the same exit code where the reader of its errors has left', async () => {
  const service = await services.launch({ env: { GATEWAY_PORT: 'http' } });
  service.leaveErrors();
  expect(await service.exited).toEqual({ code: CANNOT_START, signal: null });
});
