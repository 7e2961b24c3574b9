import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { MaintenanceServiceService } from '../../generated/proto/integration/maintenance/v1/maintenance.js';
import { ErrorCode, ServiceError } from '../../src/errors/service-error.js';
import type { Authenticate } from '../../src/rpc/callers.js';
import { type ConnectionLimits, Connections } from '../../src/rpc/connections.js';
import { serve } from '../../src/rpc/handlers.js';
import { addHealth } from '../../src/rpc/health.js';
import { eventually, LONGER_THAN_A_TEST_MS } from '../support/eventually.js';
import { RawPeer } from './raw-peer.js';
import { CALL, rpcRigs, TOKENS } from './rig.js';

const { path } = MaintenanceServiceService.purgeExpired;
const HEALTH = '/grpc.health.v1.Health/Check';
const EMPTY_MESSAGE = Buffer.alloc(5);
const ANSWER = { counts: [], more: false, otherRunActive: false };
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const EMPTY_SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

describe('connections to the port', () => {
  const rigs = rpcRigs();
  const sockets: Socket[] = [];
  const peers: RawPeer[] = [];
  afterEach(() => {
    jest.restoreAllMocks();
    for (const socket of sockets.splice(0)) {
      socket.destroy();
    }
    for (const peer of peers.splice(0)) {
      peer.leave();
    }
  });

  async function serving(connections: Partial<ConnectionLimits> = {}, authenticate?: Authenticate) {
    const services = [serve(MaintenanceServiceService, { purgeExpired: async () => ANSWER })];
    const rig = await rigs.start(services, {
      address: '127.0.0.1:0',
      limits: { connections: { strangerMs: LONGER_THAN_A_TEST_MS, ...connections } },
      ...(authenticate && { authenticate }),
      prepare: (server) => addHealth(server, async () => 'SERVING'),
    });
    const ask = (token?: string) =>
      rig.channel(token).clientOf(MaintenanceServiceService).purgeExpired({ limit: 1 }, CALL);
    return { ...rig, ask };
  }

  async function stranger(address: string, localAddress = '127.0.0.1'): Promise<Socket> {
    const [host, port] = address.split(':');
    const socket = connect({ port: Number(port), host, localAddress });
    sockets.push(socket);
    socket.on('error', () => undefined).resume();
    await once(socket, 'connect');
    return socket;
  }

  function rawPeer(address: string): RawPeer {
    const peer = new RawPeer(address);
    peers.push(peer);
    return peer;
  }

  async function completeCall(peer: RawPeer, method: string, token?: string): Promise<void> {
    const call = peer.call(method, token);
    call.end(EMPTY_MESSAGE);
    await once(call, 'close');
  }

  test('without a token are limited per network: the oldest is closed', async () => {
    const { address, ask } = await serving({ strangersPerNetwork: 2 });
    const three = [await stranger(address), await stranger(address), await stranger(address)];
    await eventually('the oldest is cut', () => three[0]?.destroyed);
    expect(three.map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
    await expect(ask()).resolves.toEqual(ANSWER);
  });

  test('without a token are limited in total, and keep out no caller with a token', async () => {
    const { address, ask } = await serving({ strangersInTotal: 2 });
    const strangers: Socket[] = [];
    for (let count = 0; count < 20; count += 1) {
      strangers.push(await stranger(address));
    }
    await expect(ask()).resolves.toEqual(ANSWER);
    await eventually('most are cut', () => strangers.filter(({ destroyed }) => !destroyed).length <= 2);
  });

  test('without a token are closed in the network that has most: the oldest stays, from another network', async () => {
    const { address } = await serving({ strangersInTotal: 3 });
    const other = await stranger(address, '127.0.0.2');
    const many: Socket[] = [];
    for (let count = 0; count < 10; count += 1) {
      many.push(await stranger(address));
    }
    await eventually('most are cut', () => many.filter(({ destroyed }) => !destroyed).length === 2);
    expect(other.destroyed).toBe(false);
  });

  test('are limited per token: an extra one is closed, those of other tokens stay', async () => {
    const { address } = await serving({ perToken: 2 }, (token) => ({
      caller: 'maintenance',
      tokenId: token,
    }));
    const other = rawPeer(address);
    await completeCall(other, path, 'another');
    const peers = [rawPeer(address), rawPeer(address), rawPeer(address)];
    for (const peer of peers) {
      await completeCall(peer, path, 'one');
    }
    await eventually('the newest is cut', () => peers[2]?.session.destroyed);
    await completeCall(other, path, 'another');
    expect(other.statuses).toEqual(['0', '0']);
    expect(peers.map(({ session }) => session.destroyed)).toEqual([false, false, true]);
  });

  test('are closed after a time without a token, and kept with one', async () => {
    const { address } = await serving();
    const known = rawPeer(address);
    await completeCall(known, path, TOKENS.maintenance);
    const mute = await stranger(address);
    const watcher = rawPeer(address);
    await completeCall(watcher, HEALTH);
    expect([mute.destroyed, watcher.session.destroyed]).toEqual([false, false]);
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + LONGER_THAN_A_TEST_MS);
    await eventually('the strangers are gone', () => mute.destroyed && watcher.session.destroyed);
    await completeCall(known, path, TOKENS.maintenance);
    expect(known.statuses).toEqual(['0', '0']);
  });

  test('are closed when they send much before their token is accepted', async () => {
    const { address } = await serving({ strangerBytes: 100_000 }, () => new Promise(() => undefined));
    const peer = rawPeer(address);
    for (let call = 0; call < 50; call += 1) {
      peer.unfinished(path, 'wrong');
    }
    await eventually('it is cut', () => peer.session.destroyed);
  });

  test.each([
    ['refused calls', path],
    ['health checks', HEALTH],
  ])('carry some %s without a token, and end with too many', async (_, method) => {
    const { address } = await serving({ callsWithoutToken: 5 });
    const peer = rawPeer(address);
    for (let call = 0; call < 5; call += 1) {
      await completeCall(peer, method);
    }
    expect(peer.session.destroyed).toBe(false);
    await completeCall(peer, method).catch(() => undefined);
    await eventually('it is cut', () => peer.session.destroyed);
  });

  test('with a token once stay open, however many calls without one follow: a proxy may share them', async () => {
    const { address } = await serving({ callsWithoutToken: 2 });
    const peer = rawPeer(address);
    for (const token of ['wrong', TOKENS.maintenance, 'wrong', 'wrong', 'wrong', TOKENS.maintenance]) {
      await completeCall(peer, path, token);
    }
    expect(peer.statuses).toEqual(['16', '0', '16', '16', '16', '0']);
  });

  test('stay open while tokens cannot be looked up', async () => {
    const { address } = await serving({ callsWithoutToken: 2 }, () => {
      throw new ServiceError(ErrorCode.UNAVAILABLE, 'The database is away.');
    });
    const peer = rawPeer(address);
    for (let call = 0; call < 5; call += 1) {
      await completeCall(peer, path, TOKENS.maintenance);
    }
    expect(peer.statuses).toEqual(Array(5).fill('14'));
  });

  test('without a token make room for a new one when all places are taken', async () => {
    const { address, ask } = await serving({ inTotal: 3 });
    const known = rawPeer(address);
    await completeCall(known, path, TOKENS.maintenance);
    const strangers = [await stranger(address), await stranger(address), await stranger(address)];
    await expect(ask()).resolves.toEqual(ANSWER);
    await eventually('one is cut', () => strangers.some(({ destroyed }) => destroyed));
    expect(known.session.destroyed).toBe(false);
  });

  test('that reset calls as fast as they make them are ended, and hold up no other', async () => {
    const { address, ask } = await serving();
    const peer = rawPeer(address);
    for (let call = 0; call < 5_000 && !peer.session.destroyed; call += 1) {
      peer.call(path, TOKENS.maintenance).close();
      if (call % 100 === 0) {
        await new Promise(setImmediate);
      }
    }
    await expect(ask()).resolves.toEqual(ANSWER);
    await eventually('it is ended', () => peer.session.destroyed);
  });

  test('that flood with settings are cut as strangers, and hold up no other', async () => {
    const { address, ask } = await serving({ strangerBytes: 100_000 });
    const socket = await stranger(address);
    socket.write(PREFACE);
    socket.write(Buffer.concat(Array(50_000).fill(EMPTY_SETTINGS)));
    await expect(ask()).resolves.toEqual(ANSWER);
    await eventually('it is cut', () => socket.destroyed);
  });
});

test('a connection may change the keys of TLS as often as its bytes need', () => {
  const bytesRead = 32 * 1_024 * 1_024;
  let isCut = false;
  const socket = Object.assign(new EventEmitter(), {
    ...{ remoteAddress: '10.0.0.1', remotePort: 1, bytesRead },
    destroy: () => {
      isCut = true;
    },
  });
  const connections = new Connections();
  connections.opened(socket as unknown as Socket);
  const changes = Array.from({ length: 64 }, () => connections.newSecret('10.0.0.1:1'));
  expect([new Set(changes), isCut]).toEqual([new Set([undefined]), false]);
  expect([connections.newSecret('10.0.0.1:1'), isCut]).toEqual(['cut', true]);
});
