import { once } from 'node:events';
import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import { afterEach, describe, expect, test } from '@jest/globals';
import { grpcStatusOf } from '../../generated/proto/grpc-statuses.js';
import { MaintenanceServiceService } from '../../generated/proto/integration/maintenance/v1/maintenance.js';
import { PlatformServiceService } from '../../generated/proto/integration/platform/v1/platform.js';
import { ErrorCode, type ErrorDetails, ServiceError } from '../../src/errors/service-error.js';
import { fromStatus } from '../../src/rpc/error-trailer.js';
import { type Handler, serve } from '../../src/rpc/handlers.js';
import { addHealth } from '../../src/rpc/health.js';
import { refusalOf, rpcRigs, TOKENS } from './rig.js';

const CODES = Object.values(ErrorCode);
const CANARY = 'canary-that-must-not-cross';

type PurgeHandler = Handler<typeof MaintenanceServiceService.purgeExpired>;

describe('an error', () => {
  const rigs = rpcRigs();
  const clients: Client[] = [];
  afterEach(() => {
    for (const client of clients.splice(0)) {
      client.close();
    }
  });

  async function throwing(thrown: () => unknown) {
    const purgeExpired: PurgeHandler = async () => {
      throw thrown();
    };
    const rig = await rigs.start([serve(MaintenanceServiceService, { purgeExpired })]);
    const client = rig.channel().clientOf(MaintenanceServiceService);
    return { ...rig, call: () => client.purgeExpired({ limit: 1 }, { requestId: 'r' }) };
  }

  test('of every code crosses with its message and its gRPC status', async () => {
    let code: ErrorCode = ErrorCode.UNSPECIFIED;
    const { call, timed } = await throwing(() => new ServiceError(code, `Words of ${code} — in UTF-8.`));
    for (code of CODES) {
      const refusal = await refusalOf(call());
      expect(refusal.code).toBe(code);
      expect(refusal.message).toBe(`Words of ${code} — in UTF-8.`);
      expect(refusal.internal).toBe(`refused with ${status[grpcStatusOf[code]]}: ${refusal.message}`);
      expect(timed.at(-1)?.code).toBe(status[grpcStatusOf[code]]);
    }
  });

  test('has a gRPC status other than OK for every code', () => {
    expect(Object.keys(grpcStatusOf).sort()).toEqual([...CODES].sort());
    for (const code of CODES) {
      expect(grpcStatusOf[code]).toBeGreaterThan(status.OK);
      expect(status[grpcStatusOf[code]]).toBeDefined();
    }
  });

  test('crosses with all its public details', async () => {
    const details: ErrorDetails = {
      fieldViolations: [
        { path: 'limit', message: 'must be less' },
        { path: 'näme', message: '„quoted“, 100 %' },
      ],
      rateLimit: { limit: 10, remaining: 0, resetSeconds: 7 },
      retryAfterSeconds: 7,
      keyHolder: { integrationId: 'itg_1', apiKeyId: 'key_1' },
    };
    const { call } = await throwing(() => new ServiceError(ErrorCode.RATE_LIMITED, 'Slow down.', details));
    expect(await refusalOf(call())).toMatchObject(details);
  });

  test('whose message is cut within a character crosses, and so does one with half a character', async () => {
    let message = `${'x'.repeat(999)}😀 and more`;
    const updateUser = async () => {
      throw new ServiceError(ErrorCode.INVALID_REQUEST, message);
    };
    const rig = await rigs.start([serve(PlatformServiceService, { updateUser })]);
    const client = rig.channel(TOKENS.platform).clientOf(PlatformServiceService);
    const call = () => refusalOf(client.updateUser({} as never, { requestId: 'r' }));
    expect((await call()).message).toBe(`${'x'.repeat(999)}\ufffd…`);
    message = 'half \ud83d';
    expect((await call()).message).toBe('half \ufffd');
  });

  test('without details crosses without any', async () => {
    const { call } = await throwing(() => new ServiceError(ErrorCode.USER_NOT_FOUND, ''));
    const refusal = await refusalOf(call());
    expect(refusal.message).toBe('');
    expect(refusal).toMatchObject({
      fieldViolations: [],
      rateLimit: undefined,
      retryAfterSeconds: undefined,
      keyHolder: undefined,
    });
  });

  test('with more violations than a trailer holds crosses with the first of them', async () => {
    const fieldViolations = Array.from({ length: 5_000 }, (_, index) => ({
      path: `records[${index}].organizationLocation.name`,
      message: 'must be at least 1 character and at most 255 characters long',
    }));
    const long = 'long '.repeat(10_000);
    const { call } = await throwing(
      () => new ServiceError(ErrorCode.INVALID_REQUEST, long, { fieldViolations }),
    );
    const refusal = await refusalOf(call());
    expect(refusal.code).toBe(ErrorCode.INVALID_REQUEST);
    expect(refusal.fieldViolations.length).toBeGreaterThan(10);
    expect(refusal.fieldViolations).toEqual(fieldViolations.slice(0, refusal.fieldViolations.length));
    expect(long.startsWith(refusal.message.replace(/…$/, ''))).toBe(true);
  });

  test.each<{ title: string; thrown: unknown }>([
    {
      title: 'the internal message of a refusal',
      thrown: new ServiceError(ErrorCode.UNAVAILABLE, 'Later.', {
        internal: CANARY,
        cause: new Error(CANARY),
      }),
    },
    { title: 'an unexpected error', thrown: new TypeError(CANARY, { cause: new Error(CANARY) }) },
    { title: 'a text that was thrown', thrown: CANARY },
    { title: 'an object that was thrown', thrown: { code: 5, details: CANARY, message: CANARY } },
    { title: 'nothing', thrown: undefined },
  ])('never tells the peer of $title', async ({ thrown }) => {
    const { call } = await throwing(() => thrown);
    const refusal = await refusalOf(call());
    expect(JSON.stringify([refusal, refusal.message, refusal.internal])).not.toContain(CANARY);
    if (!(thrown instanceof ServiceError)) {
      expect(refusal.code).toBe(ErrorCode.INTERNAL_ERROR);
      expect(refusal.message).toBe('Something went wrong on our side.');
    }
  });

  test('unexpected ones are in the log, with stack and request id', async () => {
    const { call, lines } = await throwing(() => new TypeError(CANARY));
    await refusalOf(call());
    const line = lines.find(({ level }) => level === 'error');
    expect(line).toMatchObject({ requestId: 'r', internal: `TypeError: ${CANARY}` });
    expect(line?.stack).toContain('errors.test.ts');
  });

  test('that we cause without an internal message has its public message in the log', async () => {
    const cause = new Error('the thread ended');
    const { call, lines } = await throwing(
      () => new ServiceError(ErrorCode.UNAVAILABLE, 'Later.', { cause }),
    );
    await refusalOf(call());
    const line = lines.find(({ level }) => level === 'error');
    expect(line).toMatchObject({ message: 'call failed', internal: 'Later.', stack: cause.stack });
  });

  test('that is UNAVAILABLE with an internal message, and without a cause, is a fault in the log', async () => {
    const { call, lines } = await throwing(
      () => new ServiceError(ErrorCode.UNAVAILABLE, 'Later.', { internal: 'a transaction stays open' }),
    );
    await refusalOf(call());
    expect(lines.find(({ level }) => level === 'error')?.internal).toBe('a transaction stays open');
  });

  test('that refuses for load is no fault in the log: the line of its call has the reason', async () => {
    const { call, lines } = await throwing(() => new ServiceError(ErrorCode.UNAVAILABLE, 'Too many calls.'));
    await refusalOf(call());
    expect(lines).toMatchObject([
      { level: 'debug', message: 'call', code: 'UNAVAILABLE', reason: 'Too many calls.' },
    ]);
  });

  test('in writing the answer is an internal error like any other: told to the log, not to the peer', async () => {
    const purgeExpired: PurgeHandler = async () => ({
      more: false,
      otherRunActive: false,
      get counts(): never {
        throw new Error(CANARY);
      },
    });
    const rig = await rigs.start([serve(MaintenanceServiceService, { purgeExpired })]);
    const client = rig.channel().clientOf(MaintenanceServiceService);
    const refusal = await refusalOf(client.purgeExpired({ limit: 1 }, { requestId: 'r' }));
    expect(refusal.code).toBe(ErrorCode.INTERNAL_ERROR);
    expect(JSON.stringify([refusal, refusal.message, refusal.internal])).not.toContain(CANARY);
    expect(rig.timed).toMatchObject([{ code: 'INTERNAL' }]);
    expect(rig.lines.find(({ level }) => level === 'error')?.internal).toContain(CANARY);
  });

  test.each<[string, ErrorDetails]>([
    ['a wait below zero', { retryAfterSeconds: -480 }],
    ['a wait that no field holds', { rateLimit: { limit: 1, remaining: 0, resetSeconds: 2 ** 32 } }],
    ['a part of a second', { retryAfterSeconds: 0.5 }],
  ])('with %s ends its call alone, as a fault of ours in the log', async (_, details) => {
    const thrown = new ServiceError(ErrorCode.RATE_LIMITED, 'Slow down.', details);
    const rig = await rigs.start(
      [
        serve(MaintenanceServiceService, {
          purgeExpired: async () => {
            throw thrown;
          },
        }),
        serve(PlatformServiceService, {
          // biome-ignore lint/correctness/useYield: it fails before its first message.
          importRecords: async function* () {
            throw thrown;
          },
        }),
      ],
      {
        authenticate: (token) => {
          if (token === 'counted') {
            throw thrown;
          }
          return { caller: token === TOKENS.platform ? 'platform' : 'maintenance' };
        },
        prepare: (server) => addHealth(server, () => Promise.reject(thrown)),
      },
    );
    const client = new Client(rig.address, credentials.createInsecure());
    clients.push(client);
    const asTheyAre = (bytes: Buffer) => bytes;
    const ended: number[] = [];
    for (const [path, token] of [
      [MaintenanceServiceService.purgeExpired.path, TOKENS.maintenance],
      [PlatformServiceService.importRecords.path, TOKENS.platform],
      [MaintenanceServiceService.purgeExpired.path, 'counted'],
      ['/grpc.health.v1.Health/Check', TOKENS.maintenance],
    ] as const) {
      const metadata = new Metadata();
      metadata.set('authorization', `Bearer ${token}`);
      const stream = client.makeBidiStreamRequest(path, asTheyAre, asTheyAre, metadata);
      stream.resume();
      stream.end(Buffer.alloc(0));
      const [failure] = await once(stream, 'error');
      ended.push(failure.code);
      expect(fromStatus(failure).message).toBe('Something went wrong on our side.');
    }
    expect(ended).toEqual(Array(4).fill(status.INTERNAL));
    const faults = rig.lines.filter(({ level }) => level === 'error');
    expect(faults.map(({ internal }) => internal)).toEqual(
      Array(3).fill(expect.stringMatching(/^Error: invalid uint32: /)),
    );
  });

  test.each([
    ['a call', MaintenanceServiceService.purgeExpired, TOKENS.maintenance],
    ['a stream', PlatformServiceService.importRecords, TOKENS.platform],
  ])(
    'in reading the message of %s refuses it, in our words and with a line in the log',
    async (_, { path }, token) => {
      const { address, timed, lines } = await rigs.start([
        serve(MaintenanceServiceService, {}),
        serve(PlatformServiceService, {
          importRecords: async function* (requests) {
            for await (const _ of requests) {
              yield { read: 0, imported: 0, refused: 0, importedLines: [], refusedLines: [], done: false };
            }
          },
        }),
      ]);
      const client = new Client(address, credentials.createInsecure());
      clients.push(client);
      const metadata = new Metadata();
      metadata.set('authorization', `Bearer ${token}`);
      const asTheyAre = (bytes: Buffer) => bytes;
      const stream = client.makeBidiStreamRequest(path, asTheyAre, asTheyAre, metadata);
      stream.resume();
      stream.end(Buffer.from([0xff]));
      const [failure] = await once(stream, 'error');
      expect(fromStatus(failure)).toMatchObject({
        code: ErrorCode.INVALID_REQUEST,
        message: 'The message of the call cannot be read.',
      });
      expect(timed).toMatchObject([{ method: path.slice(1), code: 'INVALID_ARGUMENT' }]);
      expect(lines).toMatchObject([{ code: 'INVALID_ARGUMENT' }]);
    },
  );
});

describe('a status without our trailer', () => {
  test.each([
    { code: status.UNAVAILABLE, expected: ErrorCode.UNAVAILABLE },
    { code: status.DEADLINE_EXCEEDED, expected: ErrorCode.UNAVAILABLE },
    { code: status.CANCELLED, expected: ErrorCode.UNAVAILABLE },
    { code: status.INTERNAL, expected: ErrorCode.INTERNAL_ERROR },
    { code: status.UNKNOWN, expected: ErrorCode.INTERNAL_ERROR },
    { code: status.NOT_FOUND, expected: ErrorCode.INTERNAL_ERROR },
  ])('$code is $expected, and what it says is for the log', ({ code, expected }) => {
    const error = fromStatus({ code, details: CANARY, metadata: new Metadata() });
    expect(error.code).toBe(expected);
    expect(error.message).not.toContain(CANARY);
    expect(error.internal).toContain(CANARY);
  });

  test('is told without the empty note of grpc-js', () => {
    const details = 'No connection established. Last error: ENOENT. Resolution note: ';
    expect(fromStatus({ code: status.UNAVAILABLE, details }).internal).toBe(
      'UNAVAILABLE: No connection established. Last error: ENOENT.',
    );
  });

  test('has a short retry delay when the peer is unreachable', () => {
    expect(fromStatus({ code: status.UNAVAILABLE, details: '' }).retryAfterSeconds).toBe(1);
  });

  test.each([Buffer.from([0x1a, 0xff, 0xff]), Buffer.from('not a message'), Buffer.from([0x0a])])(
    'or with one that cannot be read (%p) does not bring the caller down',
    (trailer) => {
      const metadata = new Metadata();
      metadata.set('integration-error-bin', trailer);
      expect(fromStatus({ code: status.UNAVAILABLE, details: 'x', metadata }).code).toBe(
        ErrorCode.UNAVAILABLE,
      );
    },
  );
});
