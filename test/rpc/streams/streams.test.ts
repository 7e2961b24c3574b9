import { EventEmitter, getEventListeners, once } from 'node:events';
import { Readable } from 'node:stream';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { DirectoryServiceService } from '../../../generated/proto/integration/directory/v1/directory.js';
import { PlatformServiceService } from '../../../generated/proto/integration/platform/v1/platform.js';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import { type CallContext, type Handler, serve } from '../../../src/rpc/handlers.js';
import { MessageReader } from '../../../src/rpc/message-streams.js';
import { eventually, LONGER_THAN_A_TEST_MS } from '../../support/eventually.js';
import { fakeTimeouts } from '../../support/fake-timeouts.js';
import { signalled } from '../../support/signalled.js';
import { untilStill } from '../../support/until-still.js';
import { RawPeer } from '../raw-peer.js';
import { refusalOf, rpcRigs, TOKENS } from '../rig.js';

type ReadRest = Handler<typeof DirectoryServiceService.readRest>;
type ImportRecords = Handler<typeof PlatformServiceService.importRecords>;

const page = (nextCursor: string) => ({ body: Buffer.alloc(0), nextCursor });
const BIG = 'x'.repeat(64 * 1_024);
const REQUEST = { read: undefined, rest: undefined };

describe('a stream of answers', () => {
  const rigs = rpcRigs();
  afterEach(() => {
    jest.useRealTimers();
  });

  async function serving(readRest: ReadRest) {
    const rig = await rigs.start([serve(DirectoryServiceService, { readRest })]);
    const { readRest: list } = rig.channel().clientOf(DirectoryServiceService);
    return {
      ...rig,
      list: (deadlineMs = LONGER_THAN_A_TEST_MS, signal?: AbortSignal) =>
        list(REQUEST, { requestId: 'r', deadlineMs, ...(signal && { signal }) }),
    };
  }

  async function collect(stream: AsyncIterable<{ nextCursor?: string | undefined }>): Promise<string[]> {
    const cursors: string[] = [];
    for await (const { nextCursor } of stream) {
      cursors.push(nextCursor ?? '');
    }
    return cursors;
  }

  test('arrives whole and in order, and is one line of the log', async () => {
    const wanted = Array.from({ length: 300 }, (_, index) => `page ${index}`);
    const { list, lines, timed } = await serving(async function* () {
      yield* wanted.map(page);
    });
    expect(await collect(list())).toEqual(wanted);
    expect(lines).toMatchObject([{ code: 'OK', requestId: 'r' }]);
    expect(timed).toHaveLength(1);
  });

  test('may be empty', async () => {
    const { list } = await serving(async function* () {});
    expect(await collect(list())).toEqual([]);
  });

  test('that fails midway gives what came before, then the error', async () => {
    const { list, timed } = await serving(async function* () {
      yield page('first');
      throw new ServiceError(ErrorCode.CLIENT_NOT_FOUND, 'Gone meanwhile.');
    });
    const stream = list()[Symbol.asyncIterator]();
    expect((await stream.next()).value).toMatchObject({ nextCursor: 'first' });
    const refusal = await refusalOf(stream.next());
    expect([refusal.code, refusal.message]).toEqual([ErrorCode.CLIENT_NOT_FOUND, 'Gone meanwhile.']);
    expect(timed).toMatchObject([{ code: 'NOT_FOUND' }]);
  });

  test('is cancelled at a message that cannot be decoded, for a loop over it would not', async () => {
    const cancel = jest.fn();
    const call = Object.assign(new Readable({ objectMode: true, read: () => undefined }), { cancel });
    const deserialize = () => {
      throw new Error('malformed');
    };
    const options = { open: () => call as never, deserialize, waitMs: undefined, signal: undefined };
    call.push(Buffer.from('?'));
    await expect(new MessageReader(options).next()).rejects.toThrow('malformed');
    expect(cancel).toHaveBeenCalledTimes(1);
  });

  test('is not made faster than the reader reads, and leaves nothing behind on the call', async () => {
    const attached = jest.spyOn(EventEmitter.prototype, 'once');
    const amount = 600;
    let made = 0;
    let call: EventEmitter | undefined;
    let leftBehind: number | undefined;
    const { list } = await serving(async function* (_, { signal }) {
      // Asking for the signal attaches to the call, by which it is found.
      expect(signal.aborted).toBe(false);
      call = attached.mock.contexts.at(-1) as EventEmitter;
      for (; made < amount; made += 1) {
        yield page(BIG);
      }
      leftBehind = ['cancelled', 'close', 'error', 'drain'].reduce(
        (sum, event) => sum + (call?.listenerCount(event) ?? 0),
        0,
      );
    });
    let read = 0;
    let most = 0;
    try {
      for await (const _ of list()) {
        read += 1;
        most = Math.max(most, made - read);
        if (read % 20 === 0) {
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      }
    } finally {
      attached.mockRestore();
    }
    expect(read).toBe(amount);
    // Some more are on their way.
    expect(most).toBeLessThan(10);
    expect(call?.constructor.name).toBe('ServerWritableStreamImpl');
    expect(leftBehind).toBeLessThan(10);
  });

  test('that the reader leaves end for the handler too, and harm no others', async () => {
    const over = signalled();
    const { list } = await serving(async function* (_, { signal }) {
      try {
        for (let index = 0; ; index += 1) {
          yield page(`${index}`);
          await new Promise(setImmediate);
          signal.throwIfAborted();
        }
      } finally {
        over.tell();
      }
    });
    for await (const _ of list()) {
      break;
    }
    await over.told;
    expect((await collectSome(list(), 3)).length).toBe(3);
  });

  test('that waits for something to come hears through its signal that the reader is gone', async () => {
    const over = signalled();
    const { list } = await serving(async function* (_, { signal }: CallContext) {
      yield page('first');
      await once(signal, 'abort');
      over.tell();
    });
    for await (const _ of list()) {
      break;
    }
    await over.told;
  });

  test('is not begun when the signal of the reader has ended before', async () => {
    const begun: string[] = [];
    const { list } = await serving(async function* (_, { requestId }) {
      begun.push(requestId);
      yield page('first');
    });
    const stream = list(undefined, AbortSignal.abort())[Symbol.asyncIterator]();
    expect((await stream.next()).done).toBe(true);
    expect((await list()[Symbol.asyncIterator]().next()).done).toBe(false);
    expect(begun).toHaveLength(1);
  });

  test('that the reader waits for ends with the signal of the reader, for the handler too', async () => {
    const over = signalled();
    const leaving = new AbortController();
    const { list } = await serving(async function* (_, { signal }) {
      yield page('first');
      await once(signal, 'abort');
      over.tell();
    });
    const stream = list(undefined, leaving.signal)[Symbol.asyncIterator]();
    await stream.next();
    const next = stream.next();
    leaving.abort();
    expect((await refusalOf(next)).code).toBe(ErrorCode.UNAVAILABLE);
    await over.told;
    expect(getEventListeners(leaving.signal, 'abort')).toEqual([]);
  });

  test('past its deadline is UNAVAILABLE, and the handler ends while it waits for the reader', async () => {
    const over = signalled();
    let made = 0;
    const { list } = await serving(async function* () {
      try {
        for (;;) {
          made += 1;
          yield page(BIG);
        }
      } finally {
        over.tell();
      }
    });
    // On a busy machine, a real deadline could be over before the first message.
    fakeTimeouts();
    const stream = list(20_000)[Symbol.asyncIterator]();
    await stream.next();
    await untilStill('the handler', () => made);
    jest.advanceTimersByTime(20_000);
    await over.told;
    const rest = async () => {
      for (;;) {
        if ((await stream.next()).done) {
          return;
        }
      }
    };
    expect((await refusalOf(rest())).code).toBe(ErrorCode.UNAVAILABLE);
  });

  async function collectSome(stream: AsyncIterable<unknown>, amount: number): Promise<unknown[]> {
    const collected: unknown[] = [];
    for await (const message of stream) {
      if (collected.push(message) === amount) {
        break;
      }
    }
    return collected;
  }
});

describe('a stream of requests', () => {
  const rigs = rpcRigs();
  const { path, requestSerialize, responseDeserialize } = PlatformServiceService.importRecords;
  const progress = (read: number) => ({
    read,
    imported: 0,
    refused: 0,
    importedLines: [],
    refusedLines: [],
    done: false,
  });

  async function answersOf(importRecords: ImportRecords, messages: number): Promise<number[]> {
    const { address } = await rigs.start([serve(PlatformServiceService, { importRecords })]);
    const client = new Client(address, credentials.createInsecure());
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${TOKENS.platform}`);
    const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata, {
      deadline: Date.now() + 20_000,
    });
    try {
      for (let index = 0; index < messages; index += 1) {
        call.write({ part: undefined });
      }
      call.end();
      const answers: number[] = [];
      for await (const { read } of call) {
        answers.push(read);
      }
      return answers;
    } finally {
      call.cancel();
      client.close();
    }
  }

  test('reaches the handler message by message', async () => {
    const importRecords: ImportRecords = async function* (requests) {
      let read = 0;
      for await (const _ of requests) {
        read += 1;
        yield progress(read);
      }
    };
    await expect(answersOf(importRecords, 50)).resolves.toEqual(
      Array.from({ length: 50 }, (_, index) => index + 1),
    );
  });

  test('may be left early by the handler, which can still answer', async () => {
    const importRecords: ImportRecords = async function* (requests) {
      for await (const _ of requests) {
        break;
      }
      yield progress(1);
    };
    await expect(answersOf(importRecords, 5)).resolves.toEqual([1]);
  });

  test('whose deadline passes before the next message is cancelled, and is no failure of ours', async () => {
    const importRecords: ImportRecords = async function* (requests) {
      for await (const _ of requests) {
        // The next one does not come.
      }
      yield progress(1);
    };
    const services = [serve(PlatformServiceService, { importRecords })];
    const { address, lines, timed } = await rigs.start(services);
    const peer = new RawPeer(address);
    peer.call(path, TOKENS.platform, { 'grpc-timeout': '500m' }).write(Buffer.alloc(5));
    await eventually('the end of the call', () => timed.length === 1);
    peer.leave();
    expect(timed).toMatchObject([{ code: 'CANCELLED' }]);
    expect(lines.map(({ level, message }) => [level, message])).toEqual([['info', 'call']]);
  });

  test('that is refused before it was read is refused in our words', async () => {
    const importRecords: ImportRecords = () => {
      throw new ServiceError(ErrorCode.INVALID_REQUEST, 'The options are missing.');
    };
    await expect(answersOf(importRecords, 5)).rejects.toMatchObject({ details: 'The options are missing.' });
  });
});
