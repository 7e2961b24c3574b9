import { setTimeout as pause } from 'node:timers/promises';
import { Client, type ClientDuplexStream, credentials, Metadata, status } from '@grpc/grpc-js';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  type Call,
  CallServiceService,
  type ExchangeRequest,
  type ExchangeResponse,
} from '../../../generated/proto/integration/calls/v1/calls.js';
import { DirectoryServiceService } from '../../../generated/proto/integration/directory/v1/directory.js';
import { ErrorCode } from '../../../src/errors/service-error.js';
import { serve } from '../../../src/rpc/handlers.js';
import { addHealth } from '../../../src/rpc/health.js';
import { eventually } from '../../support/eventually.js';
import { signalled } from '../../support/signalled.js';
import { RawPeer } from '../raw-peer.js';
import { rpcRigs, TOKENS } from '../rig.js';
import { type Answering, textService, textsAnsweredBy } from './text-service.js';

const { exchange: method } = CallServiceService;
const MOST_CALLS = 1_024;
const MEBIBYTE = 1_024 * 1_024;

/** A caller that sends what no channel would. */
class Frames {
  readonly answers = new Map<number, string>();
  readonly failures = new Map<number, ErrorCode | undefined>();
  readonly ended: Promise<[code: string, details: string]>;
  readonly stream: ClientDuplexStream<ExchangeRequest | Buffer, ExchangeResponse>;

  constructor(client: Client, token = TOKENS.edge) {
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${token}`);
    this.stream = client.makeBidiStreamRequest(
      method.path,
      (request: ExchangeRequest | Buffer) =>
        Buffer.isBuffer(request) ? request : method.requestSerialize(request),
      method.responseDeserialize,
      metadata,
    );
    this.stream.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      this.stream.on('status', ({ code, details }) => resolve([status[code] as string, details]));
    });
  }

  read(): this {
    this.stream.on('data', ({ answers, failures }: ExchangeResponse) => {
      for (const { id, message } of answers) {
        this.answers.set(id, message.toString());
      }
      for (const { id, error } of failures) {
        this.failures.set(id, error?.code);
      }
    });
    return this;
  }

  send(...calls: Partial<Call>[]): void {
    this.stream.write({ calls: calls.map(withDefaults), cancelledIds: [] });
  }

  /** A call in order is answered as ever. */
  async isWell(id: number): Promise<void> {
    this.send({ id, message: Buffer.from('well') });
    await eventually('the call in order is answered', () => this.answers.get(id) === 'well!');
  }
}

function withDefaults(call: Partial<Call>): Call {
  const message = Buffer.alloc(0);
  return { id: 1, method: textService.ask.path, requestId: 'r', timeoutMs: 20_000, message, ...call };
}

describe('a stream of calls', () => {
  const rigs = rpcRigs();
  const clients: Client[] = [];
  const peers: RawPeer[] = [];
  afterEach(() => {
    for (const client of clients.splice(0)) {
      client.close();
    }
    for (const peer of peers.splice(0)) {
      peer.leave();
    }
  });

  async function serving(ask: Answering = (text) => `${text}!`) {
    const listed: string[] = [];
    const rig = await rigs.start(
      [
        textsAnsweredBy(ask),
        serve(DirectoryServiceService, {
          readRest: async function* () {
            listed.push('rest');
            yield { body: Buffer.alloc(0) };
          },
        }),
      ],
      { prepare: (server) => addHealth(server, async () => 'SERVING') },
    );
    const client = new Client(rig.address, credentials.createInsecure());
    clients.push(client);
    return { ...rig, listed, frames: (token?: string) => new Frames(client, token) };
  }

  test.each([
    ['that does not exist', '/integration.sign_on.v1.SignOnService/Nothing', ErrorCode.CALLER_NOT_ALLOWED],
    ['without a name', '', ErrorCode.CALLER_NOT_ALLOWED],
    ['that is open to strangers', '/grpc.health.v1.Health/Check', ErrorCode.CALLER_NOT_ALLOWED],
    ['of another right', '/integration.platform.v1.PlatformService/GetUser', ErrorCode.CALLER_NOT_ALLOWED],
    ['that answers with a stream', DirectoryServiceService.readRest.path, ErrorCode.NOT_IMPLEMENTED],
    ['that is the stream itself', method.path, ErrorCode.NOT_IMPLEMENTED],
  ])('refuses the call of a method %s, and goes on', async (_, path, code) => {
    const { frames, listed, timed } = await serving();
    const peer = frames().read();
    peer.send({ id: 1, method: path });
    await eventually('it is refused', () => peer.failures.has(1));
    expect(peer.failures.get(1)).toBe(code);
    expect(listed).toEqual([]);
    await peer.isWell(2);
    const served = [textService.ask.path, DirectoryServiceService.readRest.path, method.path];
    const names = [...served.map((one) => one.slice(1)), 'grpc.health.v1.Health/Check', 'unknown'];
    expect(names).toEqual(expect.arrayContaining(timed.map((one) => one.method)));
    expect(timed).toHaveLength(2);
  });

  test.each<[string, Partial<Call>]>([
    ['has no deadline', { timeoutMs: 0 }],
    ['is larger than 256 KiB', { message: Buffer.alloc(256 * 1_024 + 1) }],
    ['says for whom in words that no record takes', { onBehalfOf: 'two words' }],
  ])('refuses a call that %s, and goes on', async (_, call) => {
    const { frames } = await serving();
    const peer = frames().read();
    peer.send({ id: 1, ...call });
    await eventually('it is refused', () => peer.failures.has(1));
    expect(peer.failures.get(1)).toBe(ErrorCode.INVALID_REQUEST);
    await peer.isWell(2);
  });

  test('refuses a call whose message is not one of the method, and goes on', async () => {
    const { frames, lines } = await serving();
    const peer = frames().read();
    const { path } = DirectoryServiceService.read;
    peer.send({ id: 1, method: path, message: Buffer.from([0xff, 0xff, 0xff]) });
    await eventually('it is refused', () => peer.failures.has(1));
    expect(peer.failures.get(1)).toBe(ErrorCode.INVALID_REQUEST);
    expect(lines).toMatchObject([{ method: path, code: 'INVALID_ARGUMENT' }]);
    await peer.isWell(2);
  });

  test('does not mind a call that waits longer than timers can, or ids that are cancelled and unknown', async () => {
    // Later than a timer that is too long for Node, which makes it one of a millisecond.
    const { frames } = await serving((text) => pause(20, `${text}!`));
    const peer = frames().read();
    peer.stream.write({ calls: [], cancelledIds: [0, 7, 4_294_967_295] });
    peer.send({ id: 1, timeoutMs: 4_294_967_295, message: Buffer.from('long') });
    await eventually('it is answered', () => peer.answers.get(1) === 'long!');
    peer.stream.write({ calls: [], cancelledIds: [1, 1] });
    await peer.isWell(2);
  });

  test.each<[string, ExchangeRequest | Buffer]>([
    ['bytes that are no frame', Buffer.from([0xff, 0xff, 0xff, 0xff])],
    ['an id that was used', { calls: [withDefaults({ id: 5 })], cancelledIds: [] }],
    ['an id before the last', { calls: [withDefaults({ id: 4 })], cancelledIds: [] }],
    ['one id twice', { calls: [withDefaults({ id: 6 }), withDefaults({ id: 6 })], cancelledIds: [] }],
    ['an invalid id', { calls: [withDefaults({ id: 0 })], cancelledIds: [] }],
    [
      'more calls at once than a channel sends',
      { calls: Array.from({ length: 65 }, (_, index) => withDefaults({ id: index + 6 })), cancelledIds: [] },
    ],
    ['a hundred thousand empty calls', Buffer.from('0a00'.repeat(100_000), 'hex')],
  ])('is ended by %s, and so are its calls', async (_, request) => {
    const heard = signalled();
    const { frames, lines } = await serving((text, { signal }) => {
      if (text === 'well') {
        return 'well!';
      }
      signal.addEventListener('abort', () => heard.tell(), { once: true });
      return new Promise(() => undefined);
    });
    const peer = frames().read();
    peer.send({ id: 4, message: Buffer.from('held') });
    await peer.isWell(5);
    peer.stream.write(request);
    expect(await peer.ended).toEqual(['INVALID_ARGUMENT', 'The frames of this stream cannot be read.']);
    await heard.told;
    await eventually('the stream is told of', () => lines.some((line) => line.method === method.path));
    expect(lines.find((line) => line.method === method.path)).toMatchObject({
      caller: 'edge',
      code: 'INVALID_ARGUMENT',
    });
  });

  test('refuses calls beyond those that may be under way, also where they were cancelled', async () => {
    const held = signalled<string>();
    const { frames } = await serving(() => held.told);
    const peer = frames().read();
    for (let id = 1; id <= MOST_CALLS; id += 1) {
      peer.send({ id });
    }
    peer.stream.write({ calls: [], cancelledIds: [1, 2, 3] });
    peer.send({ id: MOST_CALLS + 1 });
    await eventually('one is refused', () => peer.failures.size === 1);
    expect(peer.failures.get(MOST_CALLS + 1)).toBe(ErrorCode.UNAVAILABLE);
    held.tell('answered');
    await eventually('all others are answered', () => peer.answers.size === MOST_CALLS - 3);
    expect(peer.answers.has(1)).toBe(false);
  });

  test('takes no calls beyond those that all streams may have under way', async () => {
    const held = signalled<string>();
    const { frames } = await serving(() => held.told);
    const peers = Array.from({ length: 5 }, () => frames().read());
    const [late, ...others] = peers as [Frames, ...Frames[]];
    for (const peer of others) {
      for (let id = 1; id <= MOST_CALLS; id += 1) {
        peer.send({ id });
      }
      // Refused once all before it are taken.
      peer.send({ id: MOST_CALLS + 1 });
      await eventually('one is refused', () => peer.failures.size === 1);
    }
    late.send({ id: 1 });
    await eventually('it is refused', () => late.failures.size === 1);
    expect(late.failures.get(1)).toBe(ErrorCode.UNAVAILABLE);
    held.tell('answered');
    for (const peer of others) {
      await eventually('all others are answered', () => peer.answers.size === MOST_CALLS);
    }
    late.send({ id: 2 });
    await eventually('later ones are taken', () => late.answers.has(2));
  });

  test('answers what was asked before its peer ended its side, and then ends', async () => {
    const held = signalled<string>();
    const { frames } = await serving(() => held.told);
    const peer = frames().read();
    peer.send({ id: 1 });
    peer.stream.end();
    held.tell('answered');
    expect(await peer.ended).toEqual(['OK', 'OK']);
    expect(peer.answers.get(1)).toBe('answered');
  });

  test('is not read while its peer reads no answers, keeps few of them, and goes on when it does', async () => {
    const begun: string[] = [];
    const big = 'x'.repeat(2 * MEBIBYTE);
    const { frames } = await serving((text) => {
      if (text === 'well') {
        return 'well!';
      }
      begun.push(text);
      return big;
    });
    const slow = frames();
    const calls = 60;
    slow.send(...Array.from({ length: calls }, (_, index) => ({ id: index + 1 })));
    await eventually('they are handled', () => begun.length === calls);
    slow.send({ id: calls + 1, message: Buffer.from('one more') });
    // On the same connection, and behind it.
    await frames().read().isWell(1);
    expect(begun).not.toContain('one more');

    slow.read();
    await eventually('all are settled', () => slow.answers.size + slow.failures.size === calls + 1);
    expect(begun).toContain('one more');
    expect(slow.failures.size).toBeGreaterThan(0);
    expect(new Set(slow.failures.values())).toEqual(new Set([ErrorCode.UNAVAILABLE]));
    expect([...slow.answers.values()].every((answer) => answer.length === big.length)).toBe(true);
  });

  test('is not opened without a token for it, before a byte of it is read', async () => {
    const { address } = await serving();
    const peer = new RawPeer(address);
    peers.push(peer);
    for (const token of [undefined, 'wrong', TOKENS.platform, TOKENS.metrics]) {
      peer.unfinished(method.path, token);
    }
    await eventually('all are closed', () => peer.closed === 4);
    expect(peer.statuses).toEqual(['16', '16', '7', '7']);
  });

  test('is not served where no method is for roles', async () => {
    const { address } = await rigs.start([
      serve({ ask: { ...textService.ask, path: '/integration.platform.v1.PlatformService/GetUser' } }, {}),
    ]);
    const client = new Client(address, credentials.createInsecure());
    clients.push(client);
    expect((await new Frames(client).read().ended)[0]).toBe('UNIMPLEMENTED');
  });
});
