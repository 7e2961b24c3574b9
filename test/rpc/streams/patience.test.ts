import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { DirectoryServiceService } from '../../../generated/proto/integration/directory/v1/directory.js';
import { ErrorCode } from '../../../src/errors/service-error.js';
import { type Handler, serve } from '../../../src/rpc/handlers.js';
import { READER_PATIENCE_MS } from '../../../src/rpc/message-streams.js';
import { LONGER_THAN_A_TEST_MS } from '../../support/eventually.js';
import { fakeTimeouts } from '../../support/fake-timeouts.js';
import { signalled } from '../../support/signalled.js';
import { RawPeer } from '../raw-peer.js';
import { refusalOf, rpcRigs, TOKENS } from '../rig.js';

type ReadRest = Handler<typeof DirectoryServiceService.readRest>;

const page = (nextCursor: string) => ({ body: Buffer.alloc(0), nextCursor });
const REQUEST = { read: undefined, rest: undefined };

/** Less than the connection may be silent. */
const WAIT_MS = 5_000;

const STEP_MS = 5_000;
/** A call that has ended may still deliver its status. */
const FLUSH_MS = 1_000;

beforeEach(() => {
  fakeTimeouts();
});
afterEach(() => {
  jest.useRealTimers();
});
const rigs = rpcRigs();

const pong = ({ session }: RawPeer) => new Promise((resolve) => session.ping(resolve));

describe('the last or only message of an answer', () => {
  test.each(['read', 'readRest'] as const)(
    'is given up when its reader takes nothing of it: %s',
    async (name) => {
      const { address, timed } = await rigs.start([
        serve(DirectoryServiceService, {
          read: async () => ({ header: undefined, body: Buffer.from('[]') }),
          readRest: async function* () {
            yield page('');
          },
        }),
      ]);
      const peer = new RawPeer(address, 0);
      try {
        const stream = peer.call(DirectoryServiceService[name].path, TOKENS.edge);
        stream.end(Buffer.alloc(5));
        while (timed.length === 0) {
          await new Promise(setImmediate);
        }
        const passes = async (ms: number) => {
          for (let passed = 0; passed < ms; passed += STEP_MS) {
            jest.advanceTimersByTime(Math.min(STEP_MS, ms - passed));
            // Meanwhile, the peer answers the pings of the server.
            await pong(peer);
            await pong(peer);
          }
        };
        await passes(READER_PATIENCE_MS - STEP_MS);
        expect(peer.closed).toBe(0);
        await passes(STEP_MS + FLUSH_MS);
        expect([peer.closed, peer.session.closed]).toEqual([1, false]);
      } finally {
        peer.leave();
      }
    },
  );
});

describe('a stream that is long', () => {
  async function serving(readRest: ReadRest, messageWaitMs: number) {
    const rig = await rigs.start([serve(DirectoryServiceService, { readRest })]);
    const { readRest: list } = rig.channel().clientOf(DirectoryServiceService);
    const options = { requestId: 'r', deadlineMs: LONGER_THAN_A_TEST_MS, messageWaitMs };
    return list(REQUEST, options)[Symbol.asyncIterator]();
  }

  test('is given up, as UNAVAILABLE and for the handler too, when the next message does not come', async () => {
    const { told: ended, tell: over } = signalled();
    const messages = await serving(async function* (_, { signal }) {
      yield page('first');
      await once(signal, 'abort');
      over();
    }, WAIT_MS);
    expect((await messages.next()).value).toMatchObject({ nextCursor: 'first' });
    const refusal = refusalOf(messages.next());
    jest.advanceTimersByTime(WAIT_MS);
    expect((await refusal).code).toBe(ErrorCode.UNAVAILABLE);
    await ended;
  });

  test('waits for its reader as long as that takes', async () => {
    const messages = await serving(async function* () {
      yield page('first');
      yield page('second');
    }, WAIT_MS);
    await messages.next();
    jest.advanceTimersByTime(2 * WAIT_MS);
    expect((await messages.next()).value).toMatchObject({ nextCursor: 'second' });
    expect((await messages.next()).done).toBe(true);
  });

  test('ends for the handler when its reader leaves while waiting for a message', async () => {
    const { told: ended, tell: over } = signalled();
    const messages = await serving(async function* (_, { signal }) {
      yield page('first');
      await once(signal, 'abort');
      over();
    }, LONGER_THAN_A_TEST_MS);
    await messages.next();
    const waiting = messages.next().catch(() => 'given up');
    await messages.return?.();
    await ended;
    expect(await waiting).toBe('given up');
  });
});
