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
