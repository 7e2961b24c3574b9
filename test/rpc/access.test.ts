import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { InstanceId } from '../../generated/ids.js';
import { grpcStatusOf } from '../../generated/proto/grpc-statuses.js';
import {
  CallServiceService,
  type ExchangeResponse,
} from '../../generated/proto/integration/calls/v1/calls.js';
import { PlatformServiceService } from '../../generated/proto/integration/platform/v1/platform.js';
import { allowedRights, methodsWithinInstance, type Right, rights } from '../../generated/proto/rights.js';
import { tokenAuthenticator } from '../../src/cli/roles/domain-listeners.js';
import { hashedToken, roleAuthenticator } from '../../src/cli/roles/role-tokens.js';
import { Secret } from '../../src/config/secret.js';
import type { StoredServiceToken } from '../../src/domain/access/service-tokens.js';
import { ErrorCode } from '../../src/errors/service-error.js';
import { hashSecret } from '../../src/identifiers/random-secrets.js';
import { SERVICE_TOKEN_KINDS } from '../../src/identifiers/service-token.js';
import { callersOf, ROLE_RIGHTS } from '../../src/rpc/callers.js';
import { type AnyMethod, type AnyService, serve, serviceNameOf } from '../../src/rpc/handlers.js';
import { createRpcServer } from '../../src/rpc/server.js';
import { travelsInStreams } from '../../src/rpc/short-calls/frames.js';
import { hollowServices } from '../architecture/surface.js';
import { recordedLog } from '../support/recorded-log.js';
import { roleTokens } from '../support/role-tokens.js';
import { request } from './domain-server/directory-rig.js';
import { type RigOptions, refusalOf, rpcRigs, TOKENS } from './rig.js';

const services = hollowServices();
const methods = services.flatMap((service) => Object.values(service.definition));
const paths = methods.map(({ path }) => path);
const { exchange } = CallServiceService;

/** The status that an empty message gets, whatever kind of method it is. */
function outcomeOf(client: Client, method: AnyMethod, authorization?: string): Promise<string> {
  const metadata = new Metadata();
  if (authorization !== undefined) {
    metadata.set('authorization', authorization);
  }
  const call = client.makeBidiStreamRequest(
    method.path,
    () => Buffer.alloc(0),
    (bytes) => bytes,
    metadata,
    { deadline: Date.now() + 20_000 },
  );
  call.on('error', () => undefined).on('data', () => undefined);
  call.end({});
  return new Promise((resolve) => call.on('status', ({ code }) => resolve(status[code] as string)));
}

/** The status of an empty message in a stream of calls, or of the stream if that is refused. */
function outcomeInStream(client: Client, { path }: AnyMethod, right: Right): Promise<string> {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${TOKENS[right]}`);
  const stream = client.makeBidiStreamRequest(
    exchange.path,
    exchange.requestSerialize,
    exchange.responseDeserialize,
    metadata,
    { deadline: Date.now() + 20_000 },
  );
  const call = { id: 1, method: path, requestId: 'r', timeoutMs: 20_000, message: Buffer.alloc(0) };
  stream.on('error', () => undefined);
  stream.write({ calls: [call], cancelledIds: [] });
  return new Promise((resolve) => {
    stream.on('status', ({ code }) => resolve(status[code] as string));
    stream.on('data', ({ failures: [failure] }: ExchangeResponse) => {
      resolve(failure?.error ? (status[grpcStatusOf[failure.error.code]] as string) : 'OK');
      stream.end();
    });
  });
}

describe('the table of rights', () => {
  test('has every method that is served, and no other', () => {
    expect(Object.keys(allowedRights).sort()).toEqual([...paths, exchange.path].sort());
  });

  test('opens streams of calls to the roles that make calls only', () => {
    const makeCalls = rights.filter(
      (right) => ROLE_RIGHTS.has(right) && paths.some((path) => callersOf(path).includes(right)),
    );
    expect(callersOf(exchange.path)).toEqual(makeCalls);
  });

  test('gives each method to a caller, and to edge, relay and maintenance only what no others may call', () => {
    for (const path of paths) {
      const callers = callersOf(path);
      const forRoles = callers.filter((caller) => ROLE_RIGHTS.has(caller));
      expect([path, callers.length > 0, forRoles.length === 0 || callers.length === 1]).toEqual([
        path,
        true,
        true,
      ]);
    }
  });

  test('keeps the secrets of webhooks from the edge, the purge from the relay, and writes from those who read', () => {
    const of = (right: (typeof rights)[number]) => paths.filter((path) => callersOf(path).includes(right));
    expect(of('edge').filter((path) => !/\.(DirectoryService|SignOnService)\//.test(path))).toEqual([]);
    expect(of('relay').filter((path) => !path.includes('.DeliveryService/'))).toEqual([]);
    expect(of('maintenance').filter((path) => !path.includes('.MaintenanceService/'))).toEqual([]);
    expect(of('metrics')).toEqual([]);
    for (const right of ['support', 'auditor'] as const) {
      expect(of(right).filter((path) => !/\/(Get|List|Tail|Verify)\w+$/.test(path))).toEqual([]);
    }
    const writes = of('operator').filter((path) => !/\/(Get|List|Tail)\w+$/.test(path));
    expect(writes.filter((path) => path.includes('.PlatformService/'))).toEqual([]);
  });

  test('opens to tokens of one instance only what the platform may call: other tokens are of all', () => {
    const ofOthers = [...methodsWithinInstance].filter((path) => !callersOf(path).includes('platform'));
    expect(ofOthers).toEqual([]);
  });

  test('is asked for each method before a server is made: one without a right is not served', () => {
    const [method] = methods as [AnyMethod];
    const unknown = { ...method, path: '/integration.directory.v1.DirectoryService/Undeclared' };
    const service = serve({ undeclared: unknown } as unknown as AnyService, {});
    const made = () =>
      createRpcServer({ services: [service], authenticate: () => ({ caller: 'edge' }) } as never);
    expect(made).toThrow('/integration.directory.v1.DirectoryService/Undeclared declares no right');
  });
});

describe('every method', () => {
  const rigs = rpcRigs(afterAll);
  const handled: string[] = [];
  const clients: Client[] = [];

  async function clientOf(served: typeof services, options?: RigOptions): Promise<Client> {
    const { address } = await rigs.start(served, options);
    const client = new Client(address, credentials.createInsecure());
    clients.push(client);
    return client;
  }
  afterAll(() => {
    for (const client of clients) {
      client.close();
    }
  });

  let watched: Client;
  let limited: Client;
  let bare: Client;
  beforeAll(async () => {
    const watching = services.map(({ definition }) => {
      const handlers = Object.entries(definition).map(([name, { path }]) => [name, () => handled.push(path)]);
      return { definition, handlers: Object.fromEntries(handlers) };
    });
    watched = await clientOf(watching);
    limited = await clientOf(watching, {
      authenticate: (right) => ({ caller: right as Right, instanceId: 'ins_1' as InstanceId }),
    });
    bare = await clientOf(services.map((service) => ({ ...service, handlers: {} })));
  });

  const named = methods.map((method) => [method.path.slice('/integration.'.length), method] as const);
  const all = [...named, ['calls.v1.CallService/Exchange', exchange as AnyMethod] as const];
  test.each(all)('%s refuses each right that it is not for before its handler runs', async (_, method) => {
    for (const right of rights.filter((each) => !callersOf(method.path).includes(each))) {
      const outcome = await outcomeOf(watched, method, `Bearer ${TOKENS[right]}`);
      expect([right, outcome, handled]).toEqual([right, 'PERMISSION_DENIED', []]);
    }
  });

  test.each(named)('%s runs for tokens of one instance only if the contract says so', async (_, method) => {
    const { path } = method;
    const isOpen = methodsWithinInstance.has(path);
    for (const right of callersOf(path)) {
      handled.length = 0;
      const outcome = await outcomeOf(limited, method, `Bearer ${right}`);
      expect([right, handled, outcome === 'PERMISSION_DENIED']).toEqual([
        right,
        isOpen ? [path] : [],
        !isOpen,
      ]);
    }
    handled.length = 0;
  });

  test.each(all)('%s refuses who shows no token of ours before its handler runs', async (_, method) => {
    const token = TOKENS[callersOf(method.path)[0] ?? 'edge'];
    const shown = [undefined, '', token, `Basic ${token}`, 'Bearer ', 'Bearer unknown', `Bearer ${token}x`];
    for (const authorization of shown) {
      expect([authorization, await outcomeOf(watched, method, authorization)]).toEqual([
        authorization,
        'UNAUTHENTICATED',
      ]);
    }
    expect(handled).toEqual([]);
  });

  test.each(named)('%s in a stream of calls runs for a right only if it may', async (_, method) => {
    for (const right of rights) {
      handled.length = 0;
      const isAllowed = callersOf(method.path).includes(right) && callersOf(exchange.path).includes(right);
      const outcome = await outcomeInStream(watched, method, right);
      if (isAllowed && travelsInStreams(method)) {
        expect([right, handled]).toEqual([right, [method.path]]);
      } else {
        const refusal = isAllowed ? 'UNIMPLEMENTED' : 'PERMISSION_DENIED';
        expect([right, handled, outcome]).toEqual([right, [], refusal]);
      }
    }
    handled.length = 0;
  });

  test.each(named)('%s admits each right that the contract declares', async (_, method) => {
    for (const right of callersOf(method.path)) {
      expect([right, await outcomeOf(bare, method, `Bearer ${TOKENS[right]}`)]).toEqual([
        right,
        'UNIMPLEMENTED',
      ]);
    }
  });
});

describe('every method, with the tokens that a domain knows', () => {
  const rigs = rpcRigs(afterAll);
  const handled: string[] = [];
  const clients: Client[] = [];
  afterAll(() => {
    for (const client of clients) {
      client.close();
    }
  });

  const now = Date.now();
  const HASHED_EDGE_TOKEN = hashedToken(roleTokens.EDGE_TOKEN);
  const rows = new Map(
    SERVICE_TOKEN_KINDS.flatMap((kind) => {
      const row = {
        id: `tok_${kind}`,
        kind,
        instanceId: null,
        ownerId: null,
        expiresAt: null,
        revokedAt: null,
        lastUsedAt: now,
      };
      const states: Record<string, StoredServiceToken> = {
        good: { ...row, expiresAt: now + 3_600_000 },
        expired: { ...row, expiresAt: now - 1 },
        revoked: { ...row, revokedAt: now - 1 },
      };
      return Object.entries(states).map(
        ([state, token]) => [hashSecret(`${state} ${kind}`).toString('hex'), token] as const,
      );
    }),
  );
  const settings = {
    EDGE_TOKEN: [HASHED_EDGE_TOKEN],
    RELAY_TOKEN: ['newer relay token', roleTokens.RELAY_TOKEN],
    MAINTENANCE_TOKEN: [roleTokens.MAINTENANCE_TOKEN],
  };
  const config = Object.fromEntries(
    Object.entries(settings).map(([name, tokens]) => [name, tokens.map((token) => new Secret(token))]),
  );

  /** What is shown to the port for roles, and to that for all others. */
  const refused = {
    roles: {
      'an unknown token': () => 'unknown',
      'a token that was taken out of the settings': (right: Right) => `former token of ${right}`,
      'the hash of a token in place of the token': () => HASHED_EDGE_TOKEN,
      'a good token of the database': () => 'good operator',
    },
    others: {
      'an unknown token': () => 'unknown',
      'an expired token': (right: Right) => `expired ${right}`,
      'a revoked token': (right: Right) => `revoked ${right}`,
      'a good token of a role': () => roleTokens.EDGE_TOKEN,
    },
  };
  const good = (right: Right) =>
    ({
      edge: roleTokens.EDGE_TOKEN,
      relay: roleTokens.RELAY_TOKEN,
      maintenance: roleTokens.MAINTENANCE_TOKEN,
    })[right as string] ?? `good ${right}`;

  const ports: Partial<Record<keyof typeof refused, Client>> = {};
  beforeAll(async () => {
    const { log } = recordedLog();
    const findByHash = async (hash: Uint8Array) => rows.get(Buffer.from(hash).toString('hex'));
    const store = { serviceTokens: { findByHash, markUsed: async () => undefined }, clock: Date.now };
    const authenticators = {
      roles: roleAuthenticator(config as never),
      others: tokenAuthenticator(store, log),
    };
    const served = services.map(({ definition }) => {
      const handlers = Object.entries(definition).map(([name, { path }]) => [name, () => handled.push(path)]);
      return { definition, handlers: Object.fromEntries(handlers) };
    });
    for (const port of ['roles', 'others'] as const) {
      const { address } = await rigs.start(served, { authenticate: authenticators[port] });
      const client = new Client(address, credentials.createInsecure());
      clients.push(client);
      ports[port] = client;
    }
  });

  const cases = methods.flatMap((method) =>
    callersOf(method.path).map(
      (right) => [method.path.slice('/integration.'.length), right, method] as const,
    ),
  );
  test.each(cases)(
    '%s refuses each wrong token in place of the right %s, and takes a good one',
    async (_, right, method) => {
      handled.length = 0;
      const port = ROLE_RIGHTS.has(right) ? 'roles' : 'others';
      const client = ports[port] as Client;
      for (const [what, tokenOf] of Object.entries(refused[port])) {
        const outcome = await outcomeOf(client, method, `Bearer ${tokenOf(right)}`);
        expect([what, outcome, handled]).toEqual([what, 'UNAUTHENTICATED', []]);
      }
      await outcomeOf(client, method, `Bearer ${good(right)}`);
      expect(handled).toEqual([method.path]);
    },
  );
});

describe('a token', () => {
  const rigs = rpcRigs();

  test('that is wrong and one that is for something else are refused with codes of their own', async () => {
    const directory = services.find(({ definition }) =>
      serviceNameOf(definition).endsWith('DirectoryService'),
    );
    const { channel } = await rigs.start(services);
    const withoutContext = { ...request('listUsers'), context: undefined };
    const call = (token: string) =>
      refusalOf(
        (
          channel(token).clientOf(directory?.definition as AnyService) as Record<
            string,
            (...args: unknown[]) => Promise<unknown>
          >
        ).read?.(withoutContext, { requestId: 'r' }) as Promise<unknown>,
      );
    expect((await call('unknown')).code).toBe(ErrorCode.SERVICE_TOKEN_INVALID);
    expect((await call(TOKENS.platform)).code).toBe(ErrorCode.CALLER_NOT_ALLOWED);
    expect((await call(TOKENS.edge)).code).toBe(ErrorCode.INVALID_REQUEST);
  });

  test('learns which right a method needs only if it is valid', async () => {
    const { channel } = await rigs.start([serve(PlatformServiceService, {})]);
    const options = { requestId: 'r', deadlineMs: 20_000 };
    const read = async (token: string) => {
      const { getClient } = channel(token).clientOf(PlatformServiceService);
      return (await refusalOf(getClient({ clientId: 'cli_1' }, options))).message;
    };
    expect(await read(TOKENS.auditor)).toBe(
      'This method needs a token with the right platform or operator or support; this one has the right auditor.',
    );
    expect(await read('unknown')).toBe('This service token is not valid here.');
  });

  test('is looked at before any handler runs, however long that takes', async () => {
    const ran: string[] = [];
    const [directory] = services;
    const listening = serve(
      directory?.definition as never,
      {
        read: async () => ran.push('handler'),
      } as never,
    );
    const { address } = await rigs.start([listening], {
      authenticate: async () => {
        await new Promise(setImmediate);
        ran.push('authenticated');
        throw new Error('the store is away');
      },
    });
    const client = new Client(address, credentials.createInsecure());
    const method = directory?.definition.read as AnyMethod;
    try {
      expect(await outcomeOf(client, method, 'Bearer x')).toBe('INTERNAL');
      expect(ran).toEqual(['authenticated']);
    } finally {
      client.close();
    }
  });
});
