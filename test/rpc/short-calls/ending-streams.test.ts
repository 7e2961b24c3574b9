import { join } from 'node:path';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { describe, expect, test } from '@jest/globals';
import { CallServiceService } from '../../../generated/proto/integration/calls/v1/calls.js';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import { RpcChannel } from '../../../src/rpc/client.js';
import { addHealth } from '../../../src/rpc/health.js';
import { closeRpcServer } from '../../../src/rpc/server.js';
import { MAX_SENT } from '../../../src/rpc/short-calls/frames.js';
import { ServerCalls, StreamedCalls } from '../../../src/rpc/short-calls/streamed-calls.js';
import { eventually } from '../../support/eventually.js';
import { signalled } from '../../support/signalled.js';
import { refusalOf, TOKENS } from '../rig.js';
import { CuttingProxy } from './cutting-proxy.js';
import { EXCHANGE, never, OPTIONS, roleCalls } from './role-calls.js';
import { type Answering, textService, textsAnsweredBy } from './text-service.js';

describe('calls of a role, when their stream ends,', () => {
  const { rigs, clients, serving, behindProxy } = roleCalls();

  test('under way are finished by a server that drains, and new ones go to the next at its address', async () => {
    const address = `unix:${rigs.directory()}/s`;
    const held = signalled<string>();
    const reached = signalled();
    const first = await serving(
      (text) => {
        if (text !== 'held') {
          return 'first';
        }
        reached.tell();
        return held.told;
      },
      { address },
    );
    const underWay = first.change('held');
    await reached.told;
    let isClosed = false;
    const closing = closeRpcServer(first.server, 20_000).then(() => {
      isClosed = true;
    });
    await serving(() => 'second', { address });
    await eventually('the next one answers', async () => (await first.change('new')) === 'second');
    expect(isClosed).toBe(false);
    held.tell('finished');
    expect(await underWay).toBe('finished');
    await closing;
  });

  test('go into a new stream once the token has changed, and those under way are answered', async () => {
    const [old, next] = ['the-older-token', 'the-newer-token'];
    const held = signalled<string>();
    const reached = signalled();
    const shown: string[] = [];
    const answered = (text: string) => {
      if (text !== 'held') {
        return text;
      }
      reached.tell();
      return held.told;
    };
    const rig = await rigs.start([textsAnsweredBy(answered, answered)], {
      authenticate: (token) => {
        shown.push(token);
        return { caller: 'edge' };
      },
    });
    let token = old;
    const channel = rigs.channelTo(rig.address, () => token);
    const client = channel.clientOf(textService);
    const underWay = client.change('held', OPTIONS);
    await reached.told;
    token = next;
    expect(await client.change('new', OPTIONS)).toBe('new');
    expect(await client.change('another', OPTIONS)).toBe('another');
    expect(shown).toEqual([old, next]);
    held.tell('finished');
    expect(await underWay).toBe('finished');
  });

  describe('in the stream of an earlier token', () => {
    const [old, next] = ['the-older-token', 'the-newer-token'];

    async function rotating(answered: Answering) {
      const valid = new Set([old, next]);
      const rig = await rigs.start([textsAnsweredBy(answered)], {
        address: '127.0.0.1:0',
        prepare: (server) => addHealth(server, async () => 'SERVING'),
        authenticate: (token) => {
          if (!valid.has(token)) {
            throw new ServiceError(ErrorCode.SERVICE_TOKEN_INVALID, 'It was revoked.');
          }
          return { caller: 'edge' };
        },
        limits: { recheckTokensMs: 20 },
      });
      let token = old;
      const states: string[] = [];
      const channel = new RpcChannel(`${rig.address},127.0.0.1:1`, () => token, {
        onChange: ({ address, state }) => address === rig.address && states.push(state),
      });
      clients.push(channel);
      await eventually('it serves', () => states.length > 0);
      const client = channel.clientOf(textService);
      return {
        ...{ states, channel, timed: rig.timed },
        ask: (text: string) => client.ask(text, OPTIONS),
        change: (text: string) => client.change(text, OPTIONS),
        replaceToken: () => {
          token = next;
        },
        revokeOld: () => valid.delete(old),
      };
    }

    test('that is revoked are asked again if that is safe, and others fail as UNAVAILABLE', async () => {
      const begun: string[] = [];
      const { ask, change, states, replaceToken, revokeOld } = await rotating((text) => {
        begun.push(text);
        return text === 'new' || begun.filter((one) => one === text).length === 2 ? `${text} again` : never();
      });
      const asked = ask('read');
      const changed = refusalOf(change('write'));
      await eventually('both have begun', () => begun.length === 2);
      replaceToken();
      await ask('new');
      revokeOld();
      expect((await changed).code).toBe(ErrorCode.UNAVAILABLE);
      expect(await asked).toBe('read again');
      expect(begun).toEqual(['read', 'write', 'new', 'read']);
      expect(states).toEqual(['serving']);
    });

    test('have ended before it is revoked, when the channel is told that it has changed', async () => {
      const { ask, channel, timed, replaceToken, revokeOld } = await rotating((text) => text);
      await ask('text');
      replaceToken();
      channel.renew();
      const ended = () => timed.filter(({ method }) => method === EXCHANGE);
      await eventually('the stream has ended', () => ended().length > 0);
      revokeOld();
      expect(await ask('text')).toBe('text');
      expect(ended().map(({ code }) => code)).toEqual(['OK']);
    });
  });

  test('are all answered, by the one or the next, while servers drain one after the other', async () => {
    const address = `unix:${rigs.directory()}/s`;
    let current = await serving((text) => text, { address });
    const { change } = current;
    let isOver = false;
    const texts: string[] = [];
    const failures: unknown[] = [];
    const calling = Promise.all(
      Array.from({ length: 8 }, async (_, caller) => {
        for (let index = 0; !isOver; index += 1) {
          const text = `${caller} ${index}`;
          try {
            expect(await change(text)).toBe(text);
            texts.push(text);
          } catch (error) {
            failures.push(error);
          }
          await new Promise(setImmediate);
        }
      }),
    );
    for (let round = 0; round < 3; round += 1) {
      const before = texts.length;
      await eventually('calls are answered', () => texts.length > before + 100);
      await closeRpcServer(current.server, 20_000);
      current = await serving((text) => text, { address });
    }
    isOver = true;
    await calling;
    // Between one server and the next there is none; what had reached one was answered.
    for (const failure of failures) {
      expect((failure as ServiceError).internal).toMatch(
        /No connection established|connect ENOENT|going away/,
      );
    }
  });

  test('that are safe to repeat are asked again when their stream breaks, and others fail as UNAVAILABLE', async () => {
    const begun: string[] = [];
    const reached = signalled();
    const { ask, change, proxy } = await behindProxy((text) => {
      begun.push(text);
      if (begun.length === 2) {
        reached.tell();
      }
      return begun.filter((one) => one === text).length === 2 ? `${text} again` : never();
    });
    const asked = ask('read');
    const changed = refusalOf(change('write'));
    await reached.told;
    proxy.cut();
    const refusal = await changed;
    expect([refusal.code, refusal.retryAfterSeconds]).toEqual([ErrorCode.UNAVAILABLE, 1]);
    expect(await asked).toBe('read again');
    expect(begun).toEqual(['read', 'write', 'read']);
    expect(proxy.connections).toBe(2);
  });

  test('are repeated once, however often streams break', async () => {
    let begun = 0;
    const { ask, proxy } = await behindProxy(() => {
      begun += 1;
      return never();
    });
    const asked = refusalOf(ask('read'));
    await eventually('it has begun', () => begun === 1);
    proxy.cut();
    await eventually('it has begun again', () => begun === 2);
    proxy.cut();
    expect((await asked).code).toBe(ErrorCode.UNAVAILABLE);
    expect(begun).toBe(2);
  });

  test('are repeated also if they had waited for another stream before they were sent', async () => {
    const begun: string[] = [];
    const { address } = await serving((text) => {
      begun.push(text);
      return text === 'held' || (text === 'read' && begun.indexOf(text) === begun.length - 1)
        ? never()
        : text;
    });
    const path = join(rigs.directory(), 'q');
    const proxy = await CuttingProxy.start(path, address);
    clients.push(proxy);
    const channel = rigs.channelTo(`unix:${path}`, TOKENS.edge);
    const client = channel.clientOf(textService);
    const held = Array.from({ length: MAX_SENT }, () => client.change('held', OPTIONS).catch(() => 'failed'));
    await eventually('all are begun', () => begun.length === MAX_SENT);
    const read = client.ask('read', OPTIONS);
    channel.renew();
    await eventually('it has begun', () => begun.includes('read'));
    proxy.cut();
    expect(await read).toBe('read');
    await Promise.all(held);
  });

  test('fail when their channel is closed, and those after it', async () => {
    const reached = signalled<AbortSignal>();
    const { ask, leave } = await serving((_, { signal }) => {
      reached.tell(signal);
      return never();
    });
    const underWay = refusalOf(ask('read'));
    const signal = await reached.told;
    leave();
    expect((await underWay).internal).toBe('the channel was closed');
    expect((await refusalOf(ask('read'))).internal).toBe('the channel was closed');
    await eventually('the handler hears of it', () => signal.aborted);
  });

  test('go on in another stream when the ids of one are used up', async () => {
    const { address, timed } = await serving((text) => `${text}!`);
    const client = new Client(address, credentials.createInsecure());
    clients.push(client);
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${TOKENS.edge}`);
    const { path, requestSerialize, responseDeserialize } = CallServiceService.exchange;
    const calls: StreamedCalls = new StreamedCalls(() => server);
    const server = new ServerCalls({
      open: () => client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata),
      onMoved: (moved, error) => calls.move(moved, error),
      onGoingAway: () => undefined,
      onLost: () => undefined,
      lastId: 3,
    });
    const texts = Array.from({ length: 10 }, (_, index) => `${index}`);
    const answers = texts.map((text) => calls.call(textService.ask, text, OPTIONS, 20_000));
    expect(await Promise.all(answers)).toEqual(texts.map((text) => `${text}!`));
    const ended = () => timed.filter(({ method }) => method === EXCHANGE);
    await eventually('the used ones end', () => ended().length === 3);
    expect(ended().map(({ code }) => code)).toEqual(['OK', 'OK', 'OK']);
    server.renew();
  });
});
