import { once } from 'node:events';
import { Client, type ClientDuplexStream, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { afterEach, describe, expect, test } from '@jest/globals';
import { DirectoryServiceService } from '../../generated/proto/integration/directory/v1/directory.js';
import { PlatformServiceService } from '../../generated/proto/integration/platform/v1/platform.js';
import { ErrorCode, ServiceError as Refusal } from '../../src/errors/service-error.js';
import type { Authenticate, Caller } from '../../src/rpc/callers.js';
import { fromStatus } from '../../src/rpc/error-trailer.js';
import { serve } from '../../src/rpc/handlers.js';
import { READER_PATIENCE_MS } from '../../src/rpc/message-streams.js';
import { LONGER_THAN_A_TEST_MS } from '../support/eventually.js';
import { signalled } from '../support/signalled.js';
import { refusalOf, rpcRigs } from './rig.js';

const OPTIONS = { requestId: 'long', deadlineMs: LONGER_THAN_A_TEST_MS };
const BIG = Buffer.alloc(64 * 1_024);

describe('a call that stays open', () => {
  const rigs = rpcRigs();
  const clients: Client[] = [];
  afterEach(() => {
    for (const client of clients.splice(0)) {
      client.close();
    }
  });

  /** A server with revocable tokens, which it checks all the time. */
  async function serving() {
    const tokens = new Map<string, Caller | Error>();
    const looks: string[] = [];
    const authenticate: Authenticate = async (token) => {
      looks.push(token);
      const caller = tokens.get(token) ?? new Refusal(ErrorCode.SERVICE_TOKEN_INVALID, 'It was revoked.');
      if (caller instanceof Error) {
        throw caller;
      }
      return { caller };
    };
    const over = signalled();
    const services = [
      serve(DirectoryServiceService, {
        watchChanges: async function* (_, { signal }) {
          try {
            yield { instanceIds: [] };
            while (!signal.aborted) {
              await once(signal, 'abort');
            }
          } finally {
            over.tell();
          }
        },
        readRest: async function* () {
          try {
            for (;;) {
              yield { body: BIG };
            }
          } finally {
            over.tell();
          }
        },
      }),
      serve(PlatformServiceService, {
        importRecords: async function* (requests) {
          try {
            for await (const _ of requests) {
              yield progress;
            }
          } finally {
            over.tell();
          }
        },
      }),
    ];
    const rig = await rigs.start(services, { authenticate, limits: { recheckTokensMs: 20 } });
    return { ...rig, tokens, looks, over };
  }

  const directoryOf = (rig: Awaited<ReturnType<typeof serving>>, token: string) =>
    rig.channel(token).clientOf(DirectoryServiceService);

  test('and sends nothing ends when its token is revoked, for both sides', async () => {
    const rig = await serving();
    rig.tokens.set('mine', 'edge');
    const stream = directoryOf(rig, 'mine').watchChanges({}, OPTIONS)[Symbol.asyncIterator]();
    await stream.next();
    rig.tokens.delete('mine');
    const refusal = await refusalOf(stream.next());
    expect([refusal.code, refusal.message]).toEqual([ErrorCode.SERVICE_TOKEN_INVALID, 'It was revoked.']);
    await rig.over.told;
    expect(rig.lines).toMatchObject([{ requestId: 'long', code: 'UNAUTHENTICATED', caller: 'edge' }]);
  });

  test('ends when its token may no longer call it', async () => {
    const rig = await serving();
    rig.tokens.set('mine', 'edge');
    const stream = directoryOf(rig, 'mine').watchChanges({}, OPTIONS)[Symbol.asyncIterator]();
    await stream.next();
    rig.tokens.set('mine', 'platform');
    expect((await refusalOf(stream.next())).code).toBe(ErrorCode.CALLER_NOT_ALLOWED);
    await rig.over.told;
  });

  test(
    'ends also for a reader that reads nothing',
    async () => {
      const rig = await serving();
      rig.tokens.set('mine', 'edge');
      const stream = directoryOf(rig, 'mine')
        .readRest({ read: undefined, rest: undefined }, OPTIONS)
        [Symbol.asyncIterator]();
      await stream.next();
      rig.tokens.delete('mine');
      await rig.over.told;
    },
    // Its reader would be given up later.
    READER_PATIENCE_MS / 2,
  );

  test('ends while its caller sends', async () => {
    const rig = await serving();
    rig.tokens.set('mine', 'platform');
    const client = new Client(rig.address, credentials.createInsecure());
    clients.push(client);
    const { path, requestSerialize, responseDeserialize } = PlatformServiceService.importRecords;
    const metadata = new Metadata();
    metadata.set('authorization', 'Bearer mine');
    const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata);
    await answerTo(call);
    rig.tokens.delete('mine');
    const failure = await new Promise<ServiceError>((resolve) => call.on('error', resolve));
    expect(fromStatus(failure).code).toBe(ErrorCode.SERVICE_TOKEN_INVALID);
    await rig.over.told;
  });

  test('continues while its token is good, which is looked at once for all its calls', async () => {
    const rig = await serving();
    rig.tokens.set('mine', 'edge').set('other', 'edge');
    const list = (token: string) => directoryOf(rig, token).watchChanges({}, OPTIONS)[Symbol.asyncIterator]();
    const mine = Array.from({ length: 5 }, () => list('mine'));
    await Promise.all(mine.map((stream) => stream.next()));
    const other = list('other');
    await other.next();
    rig.looks.length = 0;
    rig.tokens.delete('other');
    await refusalOf(other.next());
    // Until the look that ended the other call: there may be more before its caller learns of that.
    const looks = rig.looks.slice(0, rig.looks.lastIndexOf('other') + 1);
    const rounds = looks.filter((token) => token === 'other').length;
    expect(looks.filter((token) => token === 'mine').length).toBeLessThanOrEqual(rounds + 1);
    expect(rig.lines).toHaveLength(1);
    await Promise.all(mine.map((stream) => stream.return?.()));
  });

  test('survives a time in which tokens cannot be looked at', async () => {
    const rig = await serving();
    rig.tokens.set('mine', 'edge').set('other', 'edge');
    const [mine, other] = ['mine', 'other'].map((token) =>
      directoryOf(rig, token).watchChanges({}, OPTIONS)[Symbol.asyncIterator](),
    );
    await Promise.all([mine?.next(), other?.next()]);
    rig.tokens.set('mine', new Refusal(ErrorCode.UNAVAILABLE, 'The database is away.'));
    rig.tokens.delete('other');
    await refusalOf(other?.next() as Promise<unknown>);
    expect(rig.lines).toHaveLength(1);
    rig.tokens.delete('mine');
    expect((await refusalOf(mine?.next() as Promise<unknown>)).code).toBe(ErrorCode.SERVICE_TOKEN_INVALID);
  });
});

const progress = { read: 1, imported: 0, refused: 0, importedLines: [], refusedLines: [], done: false };

function answerTo(call: ClientDuplexStream<{ part: undefined }, unknown>): Promise<unknown> {
  call.write({ part: undefined });
  return new Promise((resolve) => call.once('data', resolve));
}
