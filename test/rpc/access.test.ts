import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import { describe, expect, test } from '@jest/globals';
import { ErrorCode } from '../../src/errors/service-error.js';
import type { Caller } from '../../src/rpc/callers.js';
import { type AnyMethod, serviceNameOf } from '../../src/rpc/definitions.js';
import { serve } from '../../src/rpc/handlers.js';
import { allServices } from '../../src/rpc/services/index.js';
import { refusalOf, rpcRigs, TOKENS } from './rig.js';

/** Calls of this file end before anything is asked of what stands behind the services. */
const services = allServices({
  directory: {},
  maintenance: {},
  platform: { unitOfWork: {} },
  operator: {},
  signOn: {},
  webhooks: { unitOfWork: { rows: {} } },
  deliveries: {},
} as never);

const EVERY_CALLER = ['service', 'operator', 'platform'] as const satisfies readonly Caller[];
const methods = services.flatMap((service) =>
  Object.entries(service.definition).map(([name, method]) => ({ service, name, method, path: method.path })),
);
const CALLERS: Record<string, readonly Caller[]> = {
  'integration.directory.v1.DirectoryService': ['service'],
  'integration.maintenance.v1.MaintenanceService': ['service'],
  'integration.sign_on.v1.SignOnService': ['service'],
  'integration.webhooks.v1.DeliveryService': ['service'],
  'integration.webhooks.v1.WebhookService': ['operator'],
  'integration.operator.v1.OperatorService': ['operator'],
  'integration.platform.v1.PlatformService': ['platform', 'operator'],
};

/** The status and the trailer's code that an empty message gets, whatever kind of method it is. */
function outcomeOf(client: Client, method: AnyMethod, authorization?: string): Promise<number> {
  const metadata = new Metadata();
  if (authorization !== undefined) {
    metadata.set('authorization', authorization);
  }
  const call = client.makeBidiStreamRequest(
    method.path,
    () => Buffer.alloc(0),
    (bytes) => bytes,
    metadata,
    {
      deadline: Date.now() + 5_000,
    },
  );
  call.on('error', () => undefined).on('data', () => undefined);
  call.end({});
  return new Promise((resolve) => call.on('status', ({ code }) => resolve(code)));
}

describe('every service', () => {
  const rigs = rpcRigs();

  test('is served to whom the table of callers names, and the table is complete', () => {
    expect(
      Object.fromEntries(services.map(({ definition, callers }) => [serviceNameOf(definition), callers])),
    ).toEqual(CALLERS);
  });

  test('refuses each of its methods without a token, with a wrong one, and with one that is for something else', async () => {
    const { address } = await rigs.start(services);
    const client = new Client(address, credentials.createInsecure());
    const refusals: [title: string, authorization: string | undefined][] = [
      ['none', undefined],
      ['empty', ''],
      ['no scheme', TOKENS.service],
      ['another scheme', `Basic ${TOKENS.service}`],
      ['empty token', 'Bearer '],
      ['unknown', 'Bearer unknown'],
      ['longer', `Bearer ${TOKENS.service}x`],
    ];
    try {
      for (const { service, method, path } of methods) {
        for (const [title, authorization] of refusals) {
          expect([path, title, await outcomeOf(client, method, authorization)]).toEqual([
            path,
            title,
            status.UNAUTHENTICATED,
          ]);
        }
        for (const caller of EVERY_CALLER) {
          const outcome = await outcomeOf(client, method, `Bearer ${TOKENS[caller]}`);
          const allowed = service.callers.includes(caller);
          expect([path, caller, outcome !== status.PERMISSION_DENIED]).toEqual([path, caller, allowed]);
        }
      }
    } finally {
      client.close();
    }
  });

  test('answers NOT_IMPLEMENTED for a method without a handler, to those only who may call it', async () => {
    const { address } = await rigs.start(services.map((service) => ({ ...service, handlers: {} })));
    const client = new Client(address, credentials.createInsecure());
    try {
      for (const { method, service } of methods) {
        for (const caller of EVERY_CALLER) {
          expect([method.path, await outcomeOf(client, method, `Bearer ${TOKENS[caller]}`)]).toEqual([
            method.path,
            service.callers.includes(caller) ? status.UNIMPLEMENTED : status.PERMISSION_DENIED,
          ]);
        }
      }
    } finally {
      client.close();
    }
  });

  test('gives the two refusals of a token their own codes', async () => {
    const directory = services[0]?.definition as (typeof services)[0]['definition'];
    const { channel } = await rigs.start(services);
    const call = (token: string) =>
      refusalOf(
        (
          channel(token).clientOf(directory) as Record<string, (...args: unknown[]) => Promise<unknown>>
        ).listInstanceIntegrations?.({}, { requestId: 'r' }) as Promise<unknown>,
      );
    expect((await call('unknown')).code).toBe(ErrorCode.SERVICE_TOKEN_INVALID);
    expect((await call(TOKENS.platform)).code).toBe(ErrorCode.CALLER_NOT_ALLOWED);
    expect((await call(TOKENS.service)).code).toBe(ErrorCode.INVALID_REQUEST);
  });

  test('runs no handler before the token was looked at, however long that takes', async () => {
    const ran: string[] = [];
    const [directory] = services;
    const watched = serve(directory?.definition as never, ['service'], {
      listInstanceIntegrations: async () => ran.push('handler'),
    } as never);
    const { address } = await rigs.start([watched], {
      authenticate: async () => {
        await new Promise(setImmediate);
        ran.push('authenticated');
        throw new Error('the store is away');
      },
    });
    const client = new Client(address, credentials.createInsecure());
    const method = directory?.definition.listInstanceIntegrations as AnyMethod;
    try {
      expect(await outcomeOf(client, method, 'Bearer x')).toBe(status.INTERNAL);
      expect(ran).toEqual(['authenticated']);
    } finally {
      client.close();
    }
  });
});
