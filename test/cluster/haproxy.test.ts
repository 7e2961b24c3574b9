import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { networkOf } from '../../src/identifiers/network-address.js';
import { eventually } from '../support/eventually.js';
import { freePorts } from '../support/free-ports.js';
import { newTemporaryDirectory } from '../support/temporary-directory.js';
import { describeWith } from '../support/toolchains.js';
import { hostOf, PORTS } from './addresses.js';
import { type Part, startPart } from './parts.js';
import { haproxy, haproxyState, shippedFile, untilHaproxyKnows } from './peers.js';

const NAMES = ['edge-1', 'edge-2'] as const;
type Name = (typeof NAMES)[number];
/** How long `/readyz` may take. */
const LATE_MS = 3_000;

test('the shipped file of HAProxy counts for the same networks as the service', () => {
  const masks = [...shippedFile('haproxy.cfg').matchAll(/track-sc0 src,ipmask\(32,(\d+)\)/g)];
  const [, bits] = networkOf('2001:db8::').split('/');
  expect(masks.map(([, ofMask]) => ofMask)).toEqual([bits, bits, bits]);
});

describeWith('haproxy', 'HAProxy, with the shipped file, before two edges', () => {
  const network = `127.${randomInt(1, 255)}.${randomInt(0, 255)}`;
  const servers: Server[] = [];
  const parts: Part[] = [];
  const unready = new Set<Name>();
  const late = new Set<Name>();
  /** Of each late answer to a probe, whether HAProxy waited for it. */
  const waitedFor: boolean[] = [];
  /** The paths that sign-on was asked for. */
  const signedOn: (string | undefined)[] = [];
  /** Called with each request to the gateway that is not a probe. */
  let take: (name: Name, response: ServerResponse) => void;
  let gateway: string;
  let ports: Parameters<typeof haproxyState>[0];

  const listen = async (name: Name, port: number, answer: (response: ServerResponse) => void) => {
    const server = createServer((request, response) => {
      request.resume();
      answer(response);
    });
    servers.push(server);
    await once(server.listen(port, hostOf(network, name)), 'listening');
  };

  beforeAll(async () => {
    for (const name of NAMES) {
      await listen(name, PORTS.metrics, (response) => {
        response.writeHead(unready.has(name) ? 503 : 200);
        if (late.has(name)) {
          response.once('close', () => waitedFor.push(response.writableFinished));
          setTimeout(() => response.end(), LATE_MS);
        } else {
          response.end();
        }
      });
      await listen(name, PORTS.signOn, (response) => {
        signedOn.push(response.req.url);
        response.end();
      });
      await listen(name, PORTS.gateway, (response) => take(name, response));
    }
    const [signOn = 0, public_ = 0, grpc = 0, temporal = 0, state = 0] = await freePorts(5);
    ports = { signOn, gateway: public_, grpc, temporal, haproxy: state, demoApps: [0, 0], prometheus: 0 };
    gateway = `http://127.0.0.1:${public_}`;
    const folder = newTemporaryDirectory();
    await startPart(haproxy({ network, ports, folder, logs: folder }), (part) => parts.push(part));
    await untilHaproxyKnows(ports, NAMES.length, /^gateway,edge-/);
  });

  afterAll(async () => {
    await Promise.all(parts.map((part) => part.stop()));
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  });

  test('lets an edge that shuts down answer what it has, and gives it nothing new', async () => {
    const held = new Promise<{ name: Name; response: ServerResponse }>((resolve) => {
      take = (name, response) => resolve({ name, response });
    });
    const answer = fetch(gateway, { method: 'POST' });
    const { name, response } = await held;
    unready.add(name);
    await eventually('the edge without new requests', async () =>
      (await haproxyState(ports))
        .split('\n')
        .some((line) => line.startsWith(`gateway,${name},`) && !/,UP/.test(line)),
    );
    take = (other, toOther) => toOther.end(other);
    expect([name, await (await fetch(gateway, { method: 'POST' })).text()].sort()).toEqual(NAMES);
    response.end(name);
    expect([(await answer).status, await (await answer).text()]).toEqual([200, name]);
    unready.clear();
    await untilHaproxyKnows(ports, NAMES.length, /^gateway,edge-/);
  });

  test('keeps places for others while networks have all that they may have, fewer the fewer are left', async () => {
    const [, rule = ''] = /^frontend gateway$[\s\S]*?( reject .*)$/m.exec(shippedFile('haproxy.cfg')) ?? [];
    const [most = 0, many = 0, mostOfMany = 0] = [...rule.matchAll(/ gt (\d+)/g)].map(([, limit]) =>
      Number(limit),
    );
    take = (name, response) => response.end(name);
    const sockets: Socket[] = [];
    const open = (count: number, address: number) => {
      for (let number = 0; number < count; number += 1) {
        const localAddress = `${network}.${address}`;
        const socket = connect({ port: ports.gateway, host: '127.0.0.1', localAddress });
        // HAProxy closes a connection that it refuses, or resets it.
        sockets.push(socket.on('error', () => undefined).resume());
      }
    };
    const refused = () => sockets.filter(({ closed }) => closed).length;
    try {
      open(most + 1, 201);
      await eventually('the refusal of one more than it may have', () => refused() === 1);
      expect((await fetch(gateway)).status).toBe(200);
      const nearlyMany = many - mostOfMany / 2;
      for (let taken = most, address = 202; taken < nearlyMany; taken += most, address += 1) {
        open(Math.min(most, nearlyMany - taken), address);
      }
      await eventually('that these are taken', async () => {
        const [, present] = /^gateway,FRONTEND,\d*,\d*,(\d+),/m.exec(await haproxyState(ports)) ?? [];
        return Number(present) >= nearlyMany;
      });
      open(mostOfMany + 1, 250);
      await eventually('the refusal of one more than is left to it', () => refused() === 2);
      expect((await fetch(gateway)).status).toBe(200);
    } finally {
      for (const socket of sockets) {
        socket.destroy();
      }
    }
  });

  test('gives sign-on no request before its body is here', async () => {
    const slow = connect(ports.signOn, '127.0.0.1');
    slow.write('POST /slow HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\n');
    await fetch(`http://127.0.0.1:${ports.signOn}/other`, { method: 'POST', body: 'body' });
    expect(signedOn).toEqual(['/other']);
    slow.write('body');
    await once(slow, 'data');
    expect(signedOn).toEqual(['/other', '/slow']);
    slow.destroy();
  });

  test('waits for an edge that is slow to say whether it is ready', async () => {
    late.add('edge-1');
    // Two of each backend.
    await eventually('late answers', () => waitedFor.length >= 4);
    expect(waitedFor).not.toContain(false);
    expect(await haproxyState(ports)).toMatch(/^gateway,edge-1,.*,UP,/m);
    late.clear();
  });
});
