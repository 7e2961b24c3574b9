import { once } from 'node:events';
import { join } from 'node:path';
import type { DescMethod, JsonObject } from '@bufbuild/protobuf';
import { Client, credentials, status } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { InstanceId } from '../../generated/ids.js';
import { DirectoryServiceService } from '../../generated/proto/integration/directory/v1/directory.js';
import {
  MaintenanceServiceService,
  PurgedKind,
} from '../../generated/proto/integration/maintenance/v1/maintenance.js';
import { PlatformServiceService } from '../../generated/proto/integration/platform/v1/platform.js';
import { rights } from '../../generated/proto/rights.js';
import { ErrorCode, ServiceError } from '../../src/errors/service-error.js';
import { type Authenticate, callersOf } from '../../src/rpc/callers.js';
import { DynamicClient } from '../../src/rpc/dynamic-client.js';
import { serve, serviceNameOf } from '../../src/rpc/handlers.js';
import { addHealth, type ServingStatus } from '../../src/rpc/health.js';
import { addReflection } from '../../src/rpc/reflection.js';
import { eventually } from '../support/eventually.js';
import { untilStill } from '../support/until-still.js';
import { RawPeer } from './raw-peer.js';
import { type RpcRig, refusalOf, rpcRigs, TOKENS } from './rig.js';
import { CuttingProxy } from './short-calls/cutting-proxy.js';

const descriptorFile = join(import.meta.dirname, '../../generated/proto/descriptors.binpb');
const LIMITED = 'limited to one instance';
const onlyOurs: Authenticate = (token) => {
  if (token === LIMITED) {
    return { caller: 'platform', instanceId: 'ins_1' as InstanceId };
  }
  if (!Object.values(TOKENS).includes(token)) {
    throw new ServiceError(ErrorCode.SERVICE_TOKEN_INVALID, 'This service token is not valid here.');
  }
  return { caller: rights.find((right) => TOKENS[right] === token) ?? 'metrics' };
};
const LARGE = 'large';
/** Until a ping is sent, and for its answer. */
const KEEPALIVE_MS = 30_000 + 5_000;
const MORE_THAN_CLIENTS_TAKE_BY_DEFAULT = 5 * 1_024 * 1_024;
const progress = { read: 1, imported: 1, refused: 0, importedLines: [], refusedLines: [], done: true };

const services = [
  serve(MaintenanceServiceService, {
    purgeExpired: async ({ limit }) => {
      if (limit > 100) {
        const fieldViolations = [{ path: 'limit', message: 'must be less' }];
        throw new ServiceError(ErrorCode.INVALID_REQUEST, 'The limit is out of bounds.', { fieldViolations });
      }
      return { counts: [{ kind: PurgedKind.API_KEY, count: limit }], more: true, otherRunActive: false };
    },
  }),
  serve(DirectoryServiceService, {
    readRest: async function* ({ read }) {
      const page = (nextCursor: string) => ({ body: Buffer.alloc(0), nextCursor });
      if (read?.clientId === LARGE) {
        yield page('x'.repeat(MORE_THAN_CLIENTS_TAKE_BY_DEFAULT));
        return;
      }
      yield page(`${read?.clientId} one`);
      yield page(`${read?.clientId} two`);
    },
  }),
  serve(PlatformServiceService, {
    importRecords: async function* (requests) {
      for await (const _ of requests) {
        yield progress;
      }
    },
  }),
];
/** `list_services: ""`, as a message of gRPC. */
const QUESTION = Buffer.from([0, 0, 0, 0, 2, 0x3a, 0]);
const QUESTIONS = 20_000;

/** How many messages of gRPC these bytes are. */
function messagesIn(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at += 5 + bytes.readUInt32BE(at + 1)) {
    count += 1;
  }
  return count;
}

const pathOf = ({ parent, name }: DescMethod) => `/${parent.typeName}/${name}`;
const NAMES = services.map(({ definition }) => serviceNameOf(definition));

describe('a server that is asked what it serves', () => {
  // One for all, because reading the protos takes long; no test changes it.
  const rigs = rpcRigs(afterAll);
  let health: ServingStatus = 'SERVING';
  let rig: RpcRig;
  let listed: DescMethod[];
  const clients: DynamicClient[] = [];
  afterEach(() => {
    for (const client of clients.splice(0)) {
      client.close();
    }
  });

  beforeAll(async () => {
    rig = await rigs.start(services, {
      authenticate: onlyOurs,
      prepare: (server) => {
        addReflection(server, { descriptorFile, services: NAMES });
        addHealth(server, async () => health);
      },
    });
    listed = await client().methods();
  });

  function client(token: string = TOKENS.operator, address = rig.address): DynamicClient {
    const made = new DynamicClient(address, token, credentials.createInsecure());
    clients.push(made);
    return made;
  }

  function call(name: string, request: JsonObject): AsyncGenerator<unknown> {
    const method = listed.find((candidate) => candidate.name === name) as DescMethod;
    const [caller] = callersOf(pathOf(method));
    return client(caller && TOKENS[caller]).call(method, request);
  }

  async function collect(messages: AsyncIterable<unknown>): Promise<unknown[]> {
    const collected: unknown[] = [];
    for await (const message of messages) {
      collected.push(message);
    }
    return collected;
  }

  test('prepares its answers once, however many ask first', async () => {
    let reads = 0;
    const reflected = {
      get descriptorFile() {
        reads += 1;
        return descriptorFile;
      },
      services: NAMES,
    };
    const { address } = await rigs.start(services, {
      authenticate: onlyOurs,
      prepare: (server) => addReflection(server, reflected),
    });
    const first = Array.from({ length: 8 }, () => client(TOKENS.operator, address));
    const told = await Promise.all(first.map((one) => one.methods()));
    expect(told.map(({ length }) => length)).toEqual(told.map(() => listed.length));
    expect(reads).toBe(1);
  });

  test.each([
    ['', ErrorCode.SERVICE_TOKEN_MISSING],
    ['wrong', ErrorCode.SERVICE_TOKEN_INVALID],
  ])('refuses the token “%s” as %s', async (token, code) => {
    const refusal = await refusalOf(client(token).methods());
    expect(refusal.code).toBe(code);
  });

  test.each([...Object.entries(TOKENS), ['platform, of one instance,', LIMITED]])(
    'tells the %s token of every method of the services it serves, and no other',
    async (_, token) => {
      const toldOf = await client(token).methods();
      const expected = services.flatMap(({ definition }) =>
        Object.values(definition).map(({ path, requestStream, responseStream }) => ({
          path,
          requestStream,
          responseStream,
        })),
      );
      const told = toldOf.map((method) => ({
        path: pathOf(method),
        requestStream: ['client_streaming', 'bidi_streaming'].includes(method.methodKind),
        responseStream: ['server_streaming', 'bidi_streaming'].includes(method.methodKind),
      }));
      const byPath = (one: { path: string }, other: { path: string }) => (one.path < other.path ? -1 : 1);
      expect(told.sort(byPath)).toEqual(expected.sort(byPath));
      expect(toldOf.find(({ name }) => name === 'PurgeExpired')).toMatchObject({
        input: { name: 'PurgeExpiredRequest' },
        output: { name: 'PurgeExpiredResponse' },
      });
    },
  );

  test('answers as fast as its answers are read, and the call is in log and metrics', async () => {
    const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
    const [lines, timed] = [rig.lines.length, rig.timed.length];
    const peer = new RawPeer(rig.address, 0);
    try {
      const asking = peer.call(path, TOKENS.operator);
      const received: Buffer[] = [];
      asking.on('data', (bytes: Buffer) => received.push(bytes));
      asking.end(Buffer.concat(Array(QUESTIONS).fill(QUESTION)));
      // Twice as many bytes as HTTP/2 lets a peer send before the server reads them.
      await untilStill('what waits', () => asking.writableLength);
      expect(asking.writableLength).toBeGreaterThan(0);
      peer.session.settings({ initialWindowSize: 2 ** 24 });
      await eventually('the end of the call', () => peer.closed === 1);
      expect(peer.statuses).toEqual([String(status.OK)]);
      expect(messagesIn(Buffer.concat(received))).toBe(QUESTIONS);
      expect(rig.lines.slice(lines)).toContainEqual(
        expect.objectContaining({ level: 'info', message: 'call', method: path, code: 'OK' }),
      );
      const call = expect.objectContaining({ method: path.slice(1), code: 'OK' });
      expect(rig.timed.slice(timed)).toContainEqual(call);
    } finally {
      peer.leave();
    }
  });

  test('is called by what it told: one message for one', async () => {
    const answers = await collect(call('PurgeExpired', { limit: 5 }));
    expect(answers).toEqual([{ counts: [{ kind: 'PURGED_KIND_API_KEY', count: 5 }], more: true }]);
  });

  test('is called by what it told: a stream of answers', async () => {
    const answers = await collect(call('ReadRest', { read: { clientId: 'cli_1' } }));
    expect(answers).toMatchObject([{ nextCursor: 'cli_1 one' }, { nextCursor: 'cli_1 two' }]);
  });

  test('is called by what it told: streams both ways', async () => {
    const answers = await collect(call('ImportRecords', {}));
    expect(answers).toMatchObject([{ done: true }]);
  });

  test('is called by what it told: an answer of megabytes', async () => {
    const [answer] = await collect(call('ReadRest', { read: { clientId: LARGE } }));
    expect((answer as { nextCursor: string }).nextCursor).toHaveLength(MORE_THAN_CLIENTS_TAKE_BY_DEFAULT);
  });

  test('is called with a deadline for one answer, and without one for a stream of them', async () => {
    const made = jest.spyOn(Client.prototype, 'makeBidiStreamRequest');
    const names = ['PurgeExpired', 'ReadRest', 'ImportRecords'];
    for (const name of names) {
      await collect(call(name, {}));
    }
    // Of its overloads, the type of the mock has the last one.
    const calls = made.mock.calls as unknown as [string, unknown, unknown, unknown, { deadline: number }][];
    const deadlines = calls.map(([path, , , , options]) => [
      path.split('/').at(-1),
      Number.isFinite(options.deadline),
    ]);
    made.mockRestore();
    expect(deadlines).toEqual(names.map((name) => [name, name === 'PurgeExpired']));
  });

  test('and then falls silent fails a stream without a deadline as UNAVAILABLE', async () => {
    const path = join(rigs.directory(), 'p');
    const proxy = await CuttingProxy.start(path, rig.address);
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance', 'Date'] });
    try {
      const method = listed.find(({ name }) => name === 'ImportRecords') as DescMethod;
      const endless = async function* () {
        yield {};
        await new Promise(() => undefined);
      };
      const importer = client(TOKENS.platform, `unix:${path}`);
      const answers = importer.stream(method, endless());
      await answers.next();
      const refusal = refusalOf(answers.next());
      proxy.freeze();
      jest.advanceTimersByTime(KEEPALIVE_MS);
      expect((await refusal).code).toBe(ErrorCode.UNAVAILABLE);
    } finally {
      jest.useRealTimers();
      proxy.close();
    }
  });

  test('may be left before its stream is over', async () => {
    for await (const message of call('ReadRest', { read: { clientId: 'cli_1' } })) {
      expect(message).toMatchObject({ nextCursor: 'cli_1 one' });
      break;
    }
  });

  test('refuses in its own words, with the details', async () => {
    const refusal = await refusalOf(collect(call('PurgeExpired', { limit: 500 })));
    expect(refusal).toMatchObject({
      code: ErrorCode.INVALID_REQUEST,
      message: 'The limit is out of bounds.',
      fieldViolations: [{ path: 'limit', message: 'must be less' }],
    });
  });

  test.each<{ title: string; request: JsonObject }>([
    { title: 'a text for a number', request: { limit: 'many' } },
    { title: 'an object for a number', request: { limit: {} } },
    { title: 'a field that does not exist', request: { limit: 1, limits: 5 } },
    { title: 'a list for one', request: { limit: [1] } },
  ])('is not even asked with a request that does not fit: $title', async ({ request }) => {
    const before = rig.timed.length;
    const refusal = await refusalOf(collect(call('PurgeExpired', request)));
    expect(refusal.code).toBe(ErrorCode.INVALID_REQUEST);
    expect(refusal.fieldViolations).toEqual([
      { path: expect.stringMatching(/^limits?$/), message: expect.any(String) },
    ]);
    expect(rig.timed).toHaveLength(before);
  });

  test('says that a method is not implemented', async () => {
    const refusal = await refusalOf(collect(call('UpdateUser', {})));
    expect(refusal.code).toBe(ErrorCode.NOT_IMPLEMENTED);
  });

  test('reports its health to all callers, without a token', async () => {
    const stranger = new Client(rig.address, credentials.createInsecure());
    const ask = () =>
      new Promise((resolve, reject) => {
        const [same, noBytes] = [(bytes: Buffer) => bytes, () => Buffer.alloc(0)];
        stranger.makeUnaryRequest('/grpc.health.v1.Health/Check', noBytes, same, {}, (failure, answer) =>
          failure ? reject(failure) : resolve(answer?.at(-1)),
        );
      });
    await expect(ask()).resolves.toBe(1);
    health = 'NOT_SERVING';
    await expect(ask()).resolves.toBe(2);
    stranger.close();
  });

  test.each(['Watch', 'List'])(
    'refuses %s of the health protocol to callers without a token',
    async (name) => {
      const stranger = new Client(rig.address, credentials.createInsecure());
      const [same, noBytes] = [(bytes: Buffer) => bytes, () => Buffer.alloc(0)];
      const asked = stranger.makeServerStreamRequest(`/grpc.health.v1.Health/${name}`, noBytes, same, {});
      await expect(once(asked, 'data')).rejects.toMatchObject({ code: status.UNAUTHENTICATED });
      stranger.close();
    },
  );

  test('refuses a health check with an invalid token', async () => {
    await expect(rig.channel('wrong').health(20_000)).rejects.toThrow(
      'This service token is not valid here.',
    );
  });

  test('and hangs gives a health check an error, in time', async () => {
    const channel = rigs.channelTo(`unix:${rigs.directory()}/nobody`);
    await expect(channel.health(500)).rejects.toBeInstanceOf(Error);
  });
});
