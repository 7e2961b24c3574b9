import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { afterEach, describe, expect, test } from '@jest/globals';
import { DirectoryServiceService } from '../../../generated/proto/integration/directory/v1/directory.js';
import { ErrorCode } from '../../../src/errors/service-error.js';
import { CertificateFiles } from '../../../src/rpc/certificate-files.js';
import { RpcChannel } from '../../../src/rpc/client.js';
import { clientCredentials } from '../../../src/rpc/connect.js';
import { serve } from '../../../src/rpc/handlers.js';
import { addHealth, type ServingStatus } from '../../../src/rpc/health.js';
import { closeRpcServer } from '../../../src/rpc/server.js';
import { eventually, LONGER_THAN_A_TEST_MS } from '../../support/eventually.js';
import { listenOnLoopback } from '../../support/loopback.js';
import { selfSignedCertificate } from '../../support/self-signed-certificate.js';
import { signalled } from '../../support/signalled.js';
import { refusalOf, rpcRigs, TOKENS } from '../rig.js';
import { CuttingProxy } from '../short-calls/cutting-proxy.js';
import { type Answering, textService, textsAnsweredBy } from '../short-calls/text-service.js';

const OPTIONS = { requestId: 'r', deadlineMs: 20_000 };
const REQUEST = { read: undefined, rest: undefined };
const SOME_QUESTIONS = 3;

/** A server behind a proxy, and what became of it. */
interface Striking {
  proxy: CuttingProxy;
  address: string;
  health: ServingStatus | Promise<ServingStatus>;
  asked: number;
  texts: string[];
}

describe('a channel to several servers', () => {
  const rigs = rpcRigs();
  const proxies: CuttingProxy[] = [];
  const channels: RpcChannel[] = [];
  const listeners: Server[] = [];
  afterEach(() => {
    for (const one of [...channels.splice(0), ...proxies.splice(0), ...listeners.splice(0)]) {
      one.close();
    }
  });

  /** Notes each text that it begins. */
  async function serving(answer: Answering = (text) => `${text}!`, change: Answering = answer) {
    const noted =
      (how: Answering): Answering =>
      (text, context) => {
        one.texts.push(text);
        return how(text, context);
      };
    const rig = await rigs.start(
      [
        textsAnsweredBy(noted(answer), noted(change)),
        serve(DirectoryServiceService, {
          readRest: async function* (_, { signal }) {
            yield { body: Buffer.alloc(0), nextCursor: one.address };
            await once(signal, 'abort');
          },
        }),
      ],
      {
        address: '127.0.0.1:0',
        prepare: (server) =>
          addHealth(server, async () => {
            one.asked += 1;
            return one.health;
          }),
      },
    );
    const proxy = await CuttingProxy.start(undefined, rig.address);
    proxies.push(proxy);
    const one: Striking = {
      ...{ proxy, address: proxy.address, health: 'SERVING', asked: 0, texts: [] },
    };
    return Object.assign(one, { server: rig.server });
  }

  function channelTo(...addresses: string[]) {
    const channel = new RpcChannel(addresses.join(), TOKENS.edge);
    channels.push(channel);
    const client = channel.clientOf(textService);
    return {
      channel,
      ask: (text: string) => client.ask(text, OPTIONS),
      change: (text: string) => client.change(text, OPTIONS),
      stateOf: ({ address }: Pick<Striking, 'address'>) =>
        channel.reports().find((report) => report.address === address)?.state,
      list: () =>
        channel
          .clientOf(DirectoryServiceService)
          .readRest(REQUEST, { ...OPTIONS, deadlineMs: LONGER_THAN_A_TEST_MS }),
    };
  }

  async function both(answer?: Answering, change?: Answering) {
    const servers = [await serving(answer, change), await serving(answer, change)] as const;
    const channel = channelTo(...servers.map(({ address }) => address));
    await eventually('both serve', () => servers.every((one) => channel.stateOf(one) === 'serving'));
    return { ...channel, servers };
  }

  test('gives each an equal part of the calls', async () => {
    const held = signalled<string>();
    const { ask, servers } = await both(() => held.told);
    const calls = Array.from({ length: 100 }, (_, index) => ask(`${index}`));
    await eventually('all are begun', () => servers[0].texts.length + servers[1].texts.length === 100);
    expect(servers.map(({ texts }) => texts.length)).toEqual([50, 50]);
    held.tell('answered');
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['answered']));
  });

  test('gives calls to the one that has fewer of them', async () => {
    const held = signalled<string>();
    const [slow, quick] = [await serving(() => held.told), await serving()];
    const { ask, stateOf } = channelTo(slow.address, quick.address);
    await eventually('both serve', () => [slow, quick].every((one) => stateOf(one) === 'serving'));
    const calls: Promise<string>[] = [];
    let answered = 0;
    for (let index = 0; index < 20; index += 1) {
      const call = ask(`${index}`);
      void call.then(() => (answered += 1));
      calls.push(call);
      await eventually('all that are quick are answered', () => {
        const isBegun = slow.texts.length + quick.texts.length === calls.length;
        return isBegun && answered === quick.texts.length;
      });
    }
    expect(slow.texts).toHaveLength(1);
    held.tell('done');
    expect(await Promise.all(calls)).toContain('done');
  });

  test('repeats the reads of one that falls silent, fails its writes, and gives it calls when it is back', async () => {
    const held = signalled<string>();
    const isFirst = { read: true };
    const { ask, change, stateOf, servers, channel } = await both((text) => {
      if (text === 'read' && !isFirst.read) {
        return 'read elsewhere';
      }
      if (text === 'read') {
        isFirst.read = false;
        return held.told;
      }
      return text === 'write' ? held.told : text;
    });
    const read = ask('read');
    const write = refusalOf(change('write'));
    await eventually('both are begun', () => servers.flatMap(({ texts }) => texts).length === 2);
    for (const one of servers.filter(({ texts }) => texts.includes('write'))) {
      one.proxy.freeze();
    }
    expect((await write).code).toBe(ErrorCode.UNAVAILABLE);
    const silent = servers.find(({ texts }) => texts.includes('write')) as (typeof servers)[number];
    const other = servers.find((one) => one !== silent) as (typeof servers)[number];
    expect(stateOf(silent)).toBe('unreachable');
    expect(channel.reports().find(({ address }) => address === silent.address)?.reason).toBe(
      'it does not answer',
    );
    for (let index = 0; index < 20; index += 1) {
      expect(await ask('next')).toBe('next');
    }
    expect(silent.texts).not.toContain('next');
    silent.proxy.thaw();
    await eventually('it is back', () => stateOf(silent) === 'serving');
    await eventually('it gets calls', async () => {
      await ask('back');
      return silent.texts.includes('back');
    });
    expect(servers.flatMap(({ texts }) => texts).filter((text) => text === 'write')).toHaveLength(1);
    other.proxy.freeze();
    expect(await read).toBe('read elsewhere');
  });

  test('ends the lists of one that falls silent', async () => {
    const { list, servers, stateOf } = await both();
    const lists = [list(), list(), list(), list()].map((one) => one[Symbol.asyncIterator]());
    const firsts = await Promise.all(lists.map((one) => one.next()));
    const [silent, other] = servers;
    const of = ({ address }: Striking) =>
      lists.filter((_, index) => firsts[index]?.value?.nextCursor === address);
    // The servers name themselves by the proxies in front of them.
    expect([of(silent).length, of(other).length]).toEqual([2, 2]);
    silent.proxy.freeze();
    for (const one of of(silent)) {
      expect((await refusalOf(one.next())).code).toBe(ErrorCode.UNAVAILABLE);
    }
    expect(stateOf(other)).toBe('serving');
    const [next] = [list()[Symbol.asyncIterator]()];
    expect((await next.next()).value?.nextCursor).toBe(other.address);
    await Promise.all([next, ...of(other)].map((one) => one.return?.()));
  });

  test('gives none to one that says it does not serve, until it serves', async () => {
    const { ask, servers, stateOf } = await both();
    servers[0].health = 'NOT_SERVING';
    await eventually('it is known', () => stateOf(servers[0]) === 'not-serving');
    const before = servers[0].texts.length;
    for (let index = 0; index < 20; index += 1) {
      await ask('elsewhere');
    }
    expect(servers[0].texts).toHaveLength(before);
    servers[0].health = 'SERVING';
    await eventually('it is known', () => stateOf(servers[0]) === 'serving');
    await ask('back');
    await ask('back');
    expect(servers[0].texts).toContain('back');
  });

  test('keeps one whose look at its own health takes long', async () => {
    const { servers, stateOf, ask } = await both();
    const asked = servers[0].asked;
    servers[0].health = new Promise(() => undefined);
    const others = servers[1].asked;
    await eventually('it is asked', () => servers[0].asked > asked);
    await eventually('many questions', () => servers[1].asked > others + 5);
    expect(stateOf(servers[0])).toBe('serving');
    await Promise.all([ask('a'), ask('a')]);
    expect(servers[0].texts).toEqual(['a']);
  });

  test('uses those that say they do not serve while none serves', async () => {
    const { ask, servers, stateOf } = await both();
    for (const one of servers) {
      one.health = 'NOT_SERVING';
    }
    await eventually('it is known', () => servers.every((one) => stateOf(one) === 'not-serving'));
    expect(await ask('all the same')).toBe('all the same!');
    servers[0].proxy.freeze();
    await eventually('one is silent', () => stateOf(servers[0]) === 'unreachable');
    await ask('one');
    await ask('one');
    expect(servers[0].texts).not.toContain('one');
  });

  test('waits for a silent one, as if it were the only one, while no other serves', async () => {
    const { change, ask, servers, stateOf } = await both();
    for (const one of servers) {
      one.proxy.freeze();
    }
    const before = change('before');
    await eventually('both are silent', () => servers.every((one) => stateOf(one) === 'unreachable'));
    const after = ask('after');
    for (const one of servers) {
      one.proxy.thaw();
    }
    expect(await Promise.all([before, after])).toEqual(['before!', 'after!']);
  });

  test.each<[string, (one: Striking) => void, string]>([
    [
      'says it does not serve',
      (one) => {
        one.health = 'NOT_SERVING';
      },
      'not-serving',
    ],
    ['is gone', ({ proxy }) => proxy.close(), 'unreachable'],
  ])('waits for one that has just fallen silent, while the other %s', async (_, strike, known) => {
    const { ask, servers, stateOf } = await both();
    const [other, silent] = servers;
    strike(other);
    await eventually('that is known', () => stateOf(other) === known);
    silent.proxy.freeze();
    await eventually('one is silent', () => stateOf(silent) === 'unreachable');
    const calls = ['a', 'b', 'c', 'd'].map(ask);
    silent.proxy.thaw();
    expect(await Promise.all(calls)).toEqual(['a!', 'b!', 'c!', 'd!']);
    expect(other.texts).toEqual([]);
  });

  test('gives no calls to one that drains, which answers those it has', async () => {
    const held = signalled<string>();
    const { change, servers, stateOf } = await both((text) => (text === 'held' ? held.told : text));
    const underWay = [change('held'), change('held')];
    await eventually('both have one', () => servers.every(({ texts }) => texts.length === 1));
    const closing = closeRpcServer(servers[0].server, 20_000);
    await eventually('it is known', () => stateOf(servers[0]) !== 'serving');
    for (let index = 0; index < 20; index += 1) {
      expect(await change('next')).toBe('next');
    }
    expect(servers[0].texts).toEqual(['held']);
    held.tell('finished');
    expect(await Promise.all(underWay)).toEqual(['finished', 'finished']);
    await closing;
  });

  test('prefers one that has answered to one that was never reached', async () => {
    const one = await serving();
    const { change, stateOf } = channelTo('127.0.0.1:1', one.address);
    await eventually('it serves', () => stateOf(one) === 'serving');
    for (let index = 0; index < 20; index += 1) {
      expect(await change('text')).toBe('text!');
    }
    await eventually('the other is not', () => stateOf({ address: '127.0.0.1:1' }) === 'unreachable');
  });

  test('renews the streams to each when the token changes', async () => {
    const servers = [await serving(), await serving()];
    let token: string = TOKENS.edge;
    const channel = new RpcChannel(servers.map(({ address }) => address).join(), () => token);
    channels.push(channel);
    const { ask } = channel.clientOf(textService);
    await eventually('both serve', () => channel.reports().every(({ state }) => state === 'serving'));
    await Promise.all([ask('old', OPTIONS), ask('old', OPTIONS)]);
    token = TOKENS.relay;
    // The method is closed to that right, which shows that the stream has the token.
    const refusals = await Promise.all([refusalOf(ask('new', OPTIONS)), refusalOf(ask('new', OPTIONS))]);
    expect(refusals.map(({ code }) => code)).toEqual([
      ErrorCode.CALLER_NOT_ALLOWED,
      ErrorCode.CALLER_NOT_ALLOWED,
    ]);
  });

  test('asks nothing of a single one', async () => {
    const servers = [await serving(), await serving(), await serving()] as const;
    const [single, ...several] = servers;
    const { ask, channel } = channelTo(single.address);
    expect(await ask('text')).toBe('text!');
    channelTo(...several.map(({ address }) => address));
    await eventually('others are asked', () => several.every(({ asked }) => asked > SOME_QUESTIONS));
    expect(single.asked).toBe(0);
    expect(channel.reports()).toEqual([{ address: single.address, state: 'unasked' }]);
  });

  describe('by a name', () => {
    const named = ({ address }: Striking) => `dns:///localhost:${address.split(':')[1]}`;

    test('finds its addresses', async () => {
      const one = await serving();
      const { ask, stateOf } = channelTo(named(one));
      await eventually('it serves', () => stateOf(one) === 'serving');
      expect(await ask('text')).toBe('text!');
    });

    test('fails calls that come before it has found any', async () => {
      const { ask, channel } = channelTo('dns:///no-such-name.invalid:4005');
      const refusal = await refusalOf(ask('text'));
      expect([refusal.code, refusal.internal]).toEqual([ErrorCode.UNAVAILABLE, 'no server address is known']);
      const report = await eventually('the problem', () => channel.reports()[0]);
      expect(report).toEqual({
        address: 'dns:///no-such-name.invalid:4005',
        state: 'unreachable',
        reason: expect.stringContaining('no-such-name.invalid'),
      });
    });

    test('expects a certificate for the name, not for the address', async () => {
      const { certificate, key } = selfSignedCertificate();
      const caFile = join(rigs.directory(), 'ca.crt');
      writeFileSync(caFile, certificate);
      const shown = signalled<string>();
      const listener = createServer({
        ...{ cert: readFileSync(caFile), key, ALPNProtocols: ['h2'] },
        SNICallback: (name, done) => {
          shown.tell(name);
          done(null);
        },
      });
      listener.on('secureConnection', (socket) => socket.destroy());
      listeners.push(listener);
      const port = await listenOnLoopback(listener);
      const files = new CertificateFiles({ caFile });
      const channel = new RpcChannel(`dns:///localhost:${port}`, TOKENS.edge, {
        credentials: (address) => clientCredentials(address, files),
      });
      channels.push(channel);
      expect(await shown.told).toBe('localhost');
    });
  });
});
