import { Server, ServerCredentials, type sendUnaryData, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { searchAttributes } from '../../workflows/contract.js';
import type { DevServer } from '../../workflows/dev-server/start.js';
import { setUpNamespace } from '../../workflows/namespace-setup.js';
import { describeWith } from '../support/toolchains.js';
import { startServer } from './temporal-fixture.js';

describeWith('temporal', 'the set-up of a plain Temporal', (executable) => {
  let server: DevServer;
  beforeAll(async () => {
    server = await startServer(executable, { searchAttributes: {} });
  });
  afterAll(() => server?.stop());

  test('makes namespace and search attributes, and at the next time finds both', async () => {
    const place = { address: server.address, namespace: 'live' };
    expect(await setUpNamespace(place)).toEqual({
      isNew: true,
      addedAttributes: Object.keys(searchAttributes),
    });
    expect(await setUpNamespace(place)).toEqual({ isNew: false, addedAttributes: [] });
  });

  test('adds to a namespace of others only what it lacks', async () => {
    const place = { address: server.address, namespace: 'integration-test' };
    expect(await setUpNamespace(place)).toEqual({
      isNew: false,
      addedAttributes: Object.keys(searchAttributes),
    });
  });

  test('says at once that no server answers', async () => {
    await expect(setUpNamespace({ address: '127.0.0.1:9', namespace: 'live' })).rejects.toThrow();
  });
});

test('a front end that is not healthy yet is asked again', async () => {
  const refusals = [
    { code: status.UNAVAILABLE, details: 'Frontend is not healthy yet' },
    { code: status.PERMISSION_DENIED, details: 'It is healthy, and refuses.' },
  ];
  const server = new Server();
  const bytes = (message: Buffer) => message;
  const definition = {
    path: '/temporal.api.workflowservice.v1.WorkflowService/DescribeNamespace',
    ...{ requestStream: false, responseStream: false },
    ...{
      requestSerialize: bytes,
      requestDeserialize: bytes,
      responseSerialize: bytes,
      responseDeserialize: bytes,
    },
  };
  const describe = (_: unknown, answer: sendUnaryData<Buffer>) => answer(refusals.shift() ?? null);
  server.addService({ describe: definition }, { describe });
  const port = await new Promise<number>((resolve, reject) => {
    const listening = (error: Error | null, port: number) => (error ? reject(error) : resolve(port));
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), listening);
  });
  const setUp = setUpNamespace({ address: `127.0.0.1:${port}`, namespace: 'live' });
  await expect(setUp).rejects.toThrow('It is healthy, and refuses.');
  expect(refusals).toEqual([]);
  server.forceShutdown();
});
