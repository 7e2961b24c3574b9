import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type PrismProxy, startPrism } from '../support/contract/prism-proxy.js';
import { gatewayOperations, idNamesOf, pathOf } from '../support/gateway/operations.js';
import { type RealGateway, startRealGateway } from '../support/gateway/real-gateway.js';
import { listenOnLoopback } from '../support/loopback.js';
import { largestClient, owner, ownIds, unconfigured, unknownIds } from './demo-paths.js';

describe('Prism, between a client and the gateway', () => {
  let gateway: RealGateway;
  let prism: PrismProxy;

  beforeAll(async () => {
    gateway = await startRealGateway();
    prism = await startPrism(gateway.url);
  });

  afterAll(async () => {
    await prism.close();
    await gateway.stop();
  });

  const own = () => ({ 'x-api-key': gateway.credentials.apiKeys[owner.id] ?? '' });

  test.each(gatewayOperations)('has nothing against $operationId, however it ends', async (operation) => {
    const path = pathOf(operation, ownIds);
    const tag = (await prism.ask(path, { headers: own() })).answer.headers.etag ?? '';
    const named = idNamesOf(operation).length > 0;
    const asked: [expected: number, target: string, headers: Record<string, string>][] = [
      [200, path, own()],
      [304, path, { ...own(), 'if-none-match': tag }],
      [400, path, { ...own(), 'if-none-match': 'x'.repeat(4_097) }],
      [401, path, { 'x-api-key': 'none' }],
      [406, path, { ...own(), accept: 'text/csv' }],
      ...(named
        ? ([
            [404, pathOf(operation, unknownIds), own()],
            [404, pathOf(operation, { ...ownIds, instanceIntegrationId: unconfigured }), own()],
          ] as [number, string, Record<string, string>][])
        : []),
      ...(operation.paged
        ? ([[200, `${path}?limit=2`, own()]] as [number, string, Record<string, string>][])
        : []),
    ];
    for (const [expected, target, headers] of asked) {
      const { answer, violations } = await prism.ask(target, { headers });
      expect([target, answer.status, violations]).toEqual([target, expected, []]);
    }
  });

  test.each(largestClient.users.slice(0, 6))('has nothing against the user $id, $status', async ({ id }) => {
    const operation = gatewayOperations.find(({ operationId }) => operationId === 'getUser');
    const target = pathOf(operation as never, { ...ownIds, userId: id });
    const { answer, violations } = await prism.ask(target, { headers: own() });
    expect([answer.status, violations]).toEqual([200, []]);
  });
});

describe('Prism, between a client and a gateway that breaks the contract', () => {
  let stub: Server;
  let prism: PrismProxy;
  let planted: { status: number; type: string; body: unknown };

  const headers = {
    etag: '"x"',
    'cache-control': 'private, no-cache',
    vary: 'x-api-key, Accept-Encoding',
    'x-request-id': 'r',
    'x-ratelimit-limit': '1',
    'x-ratelimit-remaining': '1',
    'x-ratelimit-reset': '1',
  };
  const client = {
    id: ownIds.clientId,
    name: 'Tallowfern',
    location: {
      address1: null,
      address2: null,
      city: null,
      isoCountryCode: null,
      postalCode: null,
      zoneCode: null,
    },
  };

  beforeAll(async () => {
    stub = createServer((_, response) => {
      response.writeHead(planted.status, { 'content-type': planted.type, ...headers });
      response.end(JSON.stringify(planted.body));
    });
    prism = await startPrism(`http://127.0.0.1:${await listenOnLoopback(stub)}`);
  });

  afterAll(async () => {
    await prism.close();
    await new Promise((resolve) => stub.close(resolve));
  });

  const { name: _, ...nameless } = client;
  test.each([
    {
      what: 'nothing, when there is nothing',
      status: 200,
      type: 'application/json',
      body: client,
      caught: false,
    },
    { what: 'a field that is missing', status: 200, type: 'application/json', body: nameless, caught: true },
    {
      what: 'a null that may not be',
      status: 200,
      type: 'application/json',
      body: { ...client, name: null },
      caught: true,
    },
    {
      what: 'an id of another kind',
      status: 200,
      type: 'application/json',
      body: { ...client, id: ownIds.userId },
      caught: true,
    },
    { what: 'a list in place of one', status: 200, type: 'application/json', body: [client], caught: true },
    {
      what: 'a status that is none of its',
      status: 418,
      type: 'application/json',
      body: client,
      caught: true,
    },
    {
      what: 'a problem without its code',
      status: 404,
      type: 'application/problem+json',
      body: { status: 404 },
      caught: true,
    },
    { what: 'another media type', status: 200, type: 'text/html', body: client, caught: true },
  ])('catches $what: $caught', async ({ status, type, body, caught }) => {
    planted = { status, type, body };
    const { violations } = await prism.ask(
      `/v1/instance-integrations/${ownIds.instanceIntegrationId}/clients/${ownIds.clientId}`,
      { headers: { 'x-api-key': 'any' } },
    );
    expect(violations.length > 0).toBe(caught);
  });
});
