import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, test } from '@jest/globals';
import { MaintenanceServiceService } from '../../generated/proto/integration/maintenance/v1/maintenance.js';
import { OperatorServiceService } from '../../generated/proto/integration/operator/v1/operator.js';
import { PlatformServiceService } from '../../generated/proto/integration/platform/v1/platform.js';
import { serve } from '../../src/rpc/handlers.js';
import { eventually, LONGER_THAN_A_TEST_MS } from '../support/eventually.js';
import { signalled } from '../support/signalled.js';
import { callInSmallFrames, endOfCall } from './raw-frames.js';
import { RawPeer } from './raw-peer.js';
import { type RigOptions, rpcRigs, TOKENS } from './rig.js';

const { path } = MaintenanceServiceService.purgeExpired;
const { path: importRecords } = PlatformServiceService.importRecords;
const ANSWER = { counts: [], more: false, otherRunActive: false };
const CALLS = 200;
const MESSAGE_BYTES = 60_000;

describe('a message that never ends', () => {
  const rigs = rpcRigs();
  const peers: RawPeer[] = [];
  afterEach(() => {
    for (const peer of peers.splice(0)) {
      peer.leave();
    }
  });

  async function serving(options: RigOptions = {}) {
    let handled = 0;
    const purgeExpired = async () => {
      handled += 1;
      return ANSWER;
    };
    const services = [
      serve(MaintenanceServiceService, { purgeExpired }),
      serve(PlatformServiceService, {
        importRecords: () => {
          handled += 1;
          return answering();
        },
      }),
    ];
    const rig = await rigs.start(services, options);
    const peer = new RawPeer(rig.address);
    peers.push(peer);
    return { ...rig, peer, handled: () => handled };
  }

  test.each([
    ['without a token', undefined, status.UNAUTHENTICATED],
    ['with a wrong token', 'wrong', status.UNAUTHENTICATED],
    ['with a token for something else', TOKENS.platform, status.PERMISSION_DENIED],
  ])('%s is refused before it is read, and its call is closed', async (_, token, refusal) => {
    const { peer, handled } = await serving();
    for (let call = 0; call < CALLS; call += 1) {
      peer.unfinished(path, token);
    }
    await eventually('every call closed', async () => peer.closed === CALLS);
    expect(peer.statuses).toEqual(Array(CALLS).fill(String(refusal)));
    expect(handled()).toBe(0);
  });

  test('without a token is in the log at the default level, and many of them are counted', async () => {
    const { peer, lines } = await serving();
    for (let call = 0; call < CALLS; call += 1) {
      peer.unfinished(path);
    }
    await eventually('every call closed', async () => peer.closed === CALLS);
    const told = lines.filter(({ message }) => message === 'call refused');
    expect(told).toHaveLength(60);
    expect(told[0]).toMatchObject({
      level: 'warn',
      method: path,
      reason: 'service_token_missing',
      leftOut: 0,
    });
  });

  test('is not read while its token is looked at', async () => {
    const { told: held, tell: letGo } = signalled();
    const { peer } = await serving({
      authenticate: async () => {
        await held;
        return { caller: 'maintenance' };
      },
    });
    const stream = peer.unfinished(path, TOKENS.maintenance);
    await once(peer.session, 'connect');
    // The windows of a server that reads would be larger by then, and all of the message sent.
    for (let ping = 0; ping < 10; ping += 1) {
      await new Promise((resolve) => peer.session.ping(resolve));
    }
    expect(stream.writableLength).toBeGreaterThan(0);
    letGo();
    await eventually('it is read', () => stream.writableLength === 0);
  });

  test('is refused after some time, for any sender, and its call is closed', async () => {
    const { peer, handled } = await serving({ limits: { arrivalMs: 50 } });
    for (let call = 0; call < CALLS; call += 1) {
      peer.unfinished(path, TOKENS.maintenance);
    }
    await eventually('every call closed', async () => peer.closed === CALLS);
    expect(new Set(peer.statuses)).toEqual(new Set([String(status.INVALID_ARGUMENT)]));
    expect(handled()).toBe(0);
  });

  test('holds up no call of others on the same connection', async () => {
    const { peer, handled } = await serving();
    for (let call = 0; call < CALLS; call += 1) {
      peer.unfinished(path, TOKENS.maintenance);
    }
    const whole = peer.call(path, TOKENS.maintenance);
    whole.end(Buffer.alloc(5));
    await eventually('the whole one answered', async () => peer.closed === 1);
    expect(peer.statuses).toEqual([String(status.OK)]);
    expect(handled()).toBe(1);
  });

  test.each([
    ['messages that never end', path, { calls: 3 }],
    ['calls that stay open', importRecords, { longCalls: 3 }],
  ])('of one token are few: %s', async (_, method, tokens) => {
    const { address, peer, handled } = await serving({
      authenticate: (token) => ({ caller: method === path ? 'maintenance' : 'platform', tokenId: token }),
      limits: { tokens, arrivalMs: LONGER_THAN_A_TEST_MS },
    });
    for (let call = 0; call < 5; call += 1) {
      peer.unfinished(method, 'one');
    }
    await eventually('two are refused', () => peer.closed === 2);
    expect(peer.statuses).toEqual(Array(2).fill(String(status.RESOURCE_EXHAUSTED)));

    const isHandled = async (token: string) => {
      const before = handled();
      const another = new RawPeer(address);
      peers.push(another);
      another.call(method, token).end(Buffer.alloc(5));
      await eventually('it is handled or refused', () => handled() > before || another.closed === 1);
      return handled() > before;
    };
    expect(await isHandled('another')).toBe(true);
    peer.leave();
    await eventually('what the one had is free again', () => isHandled('one'));
  });

  test('and one that is handled count alike against the limit of a token, until they end', async () => {
    const { told: held, tell: letGo } = signalled();
    let begun = 0;
    const services = [
      serve(MaintenanceServiceService, {
        purgeExpired: async () => {
          begun += 1;
          await held;
          return ANSWER;
        },
      }),
    ];
    const { address } = await rigs.start(services, {
      authenticate: (token) => ({ caller: 'maintenance', tokenId: token }),
      limits: { tokens: { calls: 3 } },
    });
    const peer = new RawPeer(address);
    peers.push(peer);
    const whole = () => peer.call(path, 'one').end(Buffer.alloc(5));
    for (let call = 0; call < 3; call += 1) {
      whole();
    }
    await eventually('three are handled', () => begun === 3);
    whole();
    await eventually('one is refused', () => peer.closed === 1);
    letGo();
    await eventually('three are answered', () => peer.closed === 4);
    whole();
    await eventually('another is answered', () => peer.closed === 5);
    const [exhausted, ok] = [String(status.RESOURCE_EXHAUSTED), String(status.OK)];
    expect(peer.statuses).toEqual([exhausted, ok, ok, ok, ok]);
  });
});

describe('a message', () => {
  const rigs = rpcRigs();

  async function serving(tokens?: RigOptions['limits']) {
    let handled = 0;
    const purgeExpired = async () => {
      handled += 1;
      return ANSWER;
    };
    const services = [serve(MaintenanceServiceService, { purgeExpired })];
    const rig = await rigs.start(services, { limits: { ...tokens } });
    return { ...rig, handled: () => handled };
  }

  test.each(['gzip', 'deflate'])(
    'that may be compressed is refused before it is read: %s',
    async (encoding) => {
      const { address, handled, lines } = await serving();
      const peer = new RawPeer(address);
      const call = peer.call(path, TOKENS.maintenance, { 'grpc-encoding': encoding });
      call.write(Buffer.from([1, 0, 0, 0, 9]));
      await eventually('the call closed', () => peer.closed === 1);
      peer.leave();
      expect(peer.statuses).toEqual([String(status.UNIMPLEMENTED)]);
      expect(handled()).toBe(0);
      expect(lines).toContainEqual(expect.objectContaining({ message: 'call', code: 'UNIMPLEMENTED' }));
    },
  );

  test.each([
    // As separate pieces, they would take several megabytes each.
    { how: 'in frames of one byte', bytes: 60_000, skipped: 0, calls: 5, most: 1_024 * 1_024 },
    // Each byte would keep 64 KiB.
    { how: 'a byte at a time between others', bytes: 1_000, skipped: 4, calls: 1, most: 8 * 1_024 * 1_024 },
  ])('$how takes little memory, and is read', async ({ bytes, skipped, calls, most }) => {
    const { address, handled } = await serving({ arrivalMs: LONGER_THAN_A_TEST_MS });
    // A field that the message does not have. Its last byte comes later.
    const size = [(bytes & 0x7f) | 0x80, ((bytes >> 7) & 0x7f) | 0x80, bytes >> 14];
    const message = Buffer.concat([Buffer.from([0x7a, ...size]), Buffer.alloc(bytes)]);
    const sent = callInSmallFrames(path, TOKENS.maintenance, message, skipped).subarray(0, -10);
    const usedBefore = usedBytes();
    const sockets = Array.from({ length: calls }, () => connect(address.slice('unix:'.length)));
    await Promise.all(sockets.map((socket) => arrived(socket, sent)));
    const grownBytes = usedBytes() - usedBefore;
    for (const socket of sockets) {
      socket.write(endOfCall(Buffer.alloc(1)));
    }
    await eventually('that every message is read', () => handled() === sockets.length);
    for (const socket of sockets) {
      socket.destroy();
    }
    expect(grownBytes / sockets.length).toBeLessThan(most);
  });

  test.each([
    ['that has not ended', MESSAGE_BYTES - 1],
    ['whose call the caller does not end', MESSAGE_BYTES],
  ])('%s is not kept after the deadline of its call', async (_, sentBytes) => {
    const { address } = await serving({ arrivalMs: LONGER_THAN_A_TEST_MS });
    const head = Buffer.alloc(5);
    head.writeUInt32BE(MESSAGE_BYTES, 1);
    const part = Buffer.concat([head, Buffer.alloc(sentBytes)]);
    const peer = new RawPeer(address);
    const usedBefore = usedBytes();
    for (let call = 0; call < CALLS; call += 1) {
      peer.call(path, TOKENS.maintenance, { 'grpc-timeout': '2S' }).write(part);
    }
    await eventually('every deadline has passed', () => peer.statuses.length === CALLS);
    const grownBytes = usedBytes() - usedBefore;
    peer.leave();
    expect(new Set(peer.statuses)).toEqual(new Set([String(status.DEADLINE_EXCEEDED)]));
    expect(grownBytes / CALLS).toBeLessThan(MESSAGE_BYTES / 2);
  });
});

/** After two collections of garbage: one leaves buffers that it has found. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Until the server has answered a ping that follows these bytes. */
function arrived(socket: Socket, bytes: Buffer): Promise<void> {
  const name = Buffer.from('the end.');
  const ping = Buffer.concat([Buffer.from([0, 0, 8, 6, 0, 0, 0, 0, 0]), name]);
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    socket.on('data', (some) => {
      received.push(some);
      if (Buffer.concat(received).includes(name)) {
        resolve();
      }
    });
    socket.on('error', reject);
    socket.write(Buffer.concat([bytes, ping]));
  });
}

describe('answers that are not read', () => {
  const rigs = rpcRigs();
  const SMALL = 64 * 1_024;
  const LIMIT = 8 * SMALL;
  const CALLS_TOLD = 12;

  test('are kept up to some bytes of a line of tokens; further large ones are refused until some are read', async () => {
    let text = 'x'.repeat(LIMIT / 4);
    const { path } = OperatorServiceService.listIntegrations;
    const services = [
      serve(OperatorServiceService, {
        listIntegrations: async () => ({ integrations: [], nextPageToken: text }),
      }),
    ];
    const { address, lines, timed } = await rigs.start(services, {
      authenticate: (token) => ({ caller: 'operator', tokenId: token, ownerId: token.replace('next ', '') }),
      limits: { tokens: { unreadBytes: LIMIT } },
    });
    const ask = (peer: RawPeer, token: string) => peer.call(path, token).end(Buffer.alloc(5));
    const [one, two] = [new RawPeer(address, 0), new RawPeer(address)];
    try {
      for (let call = 0; call < CALLS_TOLD; call += 1) {
        ask(one, call % 2 === 0 ? 'one' : 'next one');
      }
      await eventually('each is answered or refused', () => timed.length === CALLS_TOLD);
      await eventually('the refusals', () => one.closed === CALLS_TOLD - 4);
      expect(new Set(one.statuses)).toEqual(new Set([String(status.UNAVAILABLE)]));
      expect(timed.filter(({ code }) => code === 'OK')).toHaveLength(4);
      expect(lines).toContainEqual(
        expect.objectContaining({ code: 'UNAVAILABLE', reason: 'Earlier answers have not been read yet.' }),
      );
      ask(two, 'two');
      await eventually('the answer to another token', () => two.closed === 1);
      text = 'x'.repeat(SMALL / 2);
      ask(two, 'one');
      await eventually('a small answer', () => two.closed === 2);
      text = 'x'.repeat(LIMIT / 4);
      one.session.settings({ initialWindowSize: LIMIT });
      await eventually('that all are read', () => one.closed === CALLS_TOLD);
      ask(two, 'one');
      await eventually('the answer', () => two.closed === 3);
      expect(two.statuses).toEqual(Array(3).fill(String(status.OK)));
    } finally {
      one.leave();
      two.leave();
    }
  });
});

/** Answers nothing for as long as it is asked. */
async function* answering(): AsyncGenerator<never> {
  await new Promise(() => undefined);
}
