import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, test } from '@jest/globals';
import { MaintenanceServiceService } from '../../generated/proto/integration/maintenance/v1/maintenance.js';
import { PlatformServiceService } from '../../generated/proto/integration/platform/v1/platform.js';
import { serve } from '../../src/rpc/handlers.js';
import { eventually } from '../support/eventually.js';
import { signalled } from '../support/signalled.js';
import { RawPeer } from './raw-peer.js';
import { type RigOptions, rpcRigs, TOKENS } from './rig.js';

const { path } = MaintenanceServiceService.purgeExpired;
const { path: importRecords } = PlatformServiceService.importRecords;
const ANSWER = { counts: [], more: false, otherRunActive: false };
const CALLS = 200;

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
    // What HTTP/2 lets a sender have on its way; the rest waits on its side.
    const window = 65_535;
    await eventually('the window is full', async () => peer.session.state.remoteWindowSize !== window);
    expect(stream.writableLength).toBeGreaterThan(0);
    expect(stream.state.localWindowSize ?? 0).toBeLessThanOrEqual(window);
    letGo();
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
      limits: { tokens },
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

/** Answers nothing for as long as it is asked. */
async function* answering(): AsyncGenerator<never> {
  await new Promise(() => undefined);
}
