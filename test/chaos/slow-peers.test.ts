import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AttackedService, BEHIND_PROXY } from '../attacks/attacked-service.js';
import type { UserAgent } from '../attacks/user-agent.js';
import { serviceProcesses } from '../support/service-process.js';
import { untilAnswered } from '../support/turned-away.js';
import { tokensIn } from './sign-on/families.js';

const services = serviceProcesses();

const PEERS = 200;
const BYTE_EVERY_MS = 1_000;

/** For programs and for people, with what each is told. */
const PATHS = ['/auth/token', '/auth/sign-in'];
const SAID = [
  '{"error":"temporarily_unavailable","error_description":"The body did not arrive in time."}',
  'The form did not arrive.',
];

interface SlowPeer {
  /** All that it was told until it was cut. */
  told: Promise<string>;
  leave(): void;
}

describe('200 peers that send a body of one byte a second', () => {
  let on: AttackedService;
  let browser: UserAgent;
  let peers: SlowPeer[];
  /** Replace the peers that were cut before the sign-ins were over. */
  const successors: SlowPeer[] = [];
  const present = new Set<SlowPeer>();

  beforeAll(async () => {
    on = new AttackedService(await services.start(BEHIND_PROXY));
    browser = await on.signedIn();
    peers = await Promise.all(
      Array.from({ length: PEERS }, (_, index) => slowPeer(on.port, PATHS[index % 2] ?? '')),
    );
  });
  afterAll(() => {
    for (const peer of [...(peers ?? []), ...successors]) {
      peer.leave();
    }
  });

  test('do not delay others: sign-ins continue beside them', async () => {
    let isOver = false;
    const replace = async (peer: SlowPeer, index: number): Promise<void> => {
      present.add(peer);
      await peer.told;
      present.delete(peer);
      if (!isOver) {
        const next = await slowPeer(on.port, PATHS[index % 2] ?? '');
        successors.push(next);
        await replace(next, index);
      }
    };
    /** The kinds of requests of which one ended before all the peers were cut that it had found. */
    const inTime = new Set<string>();
    const beside = async <T>(kind: string, work: Promise<T>): Promise<T> => {
      const before = [...present];
      const answer = await work;
      if (before.some((peer) => present.has(peer))) {
        inTime.add(kind);
      }
      return answer;
    };
    void Promise.all(peers.map(replace));
    try {
      for (let turn = 0; turn < 3; turn += 1) {
        const { access_token } = await beside('token', on.tokens(browser, on.dashboard));
        const userinfo = untilAnswered(() => on.userinfo(access_token));
        expect((await beside('userinfo', userinfo)).status).toBe(200);
      }
      const code = await on.freshCode(await on.signedIn(), on.portal);
      tokensIn(await beside('token', on.redeem(code)));
    } finally {
      isOver = true;
    }
    // A limit that the peers use up would delay all of a kind until a cut; one may meet a cut by chance.
    expect([...inTime].sort()).toEqual(['token', 'userinfo']);
  });

  test('get an error about the slow request, in the format of their API, and are disconnected', async () => {
    const told = await Promise.all(peers.map((peer) => peer.told));
    for (const [index, answer] of told.entries()) {
      expect(answer).toMatch(/^HTTP\/1\.1 408 /);
      expect(answer).toMatch(/\r\nconnection: close\r\n/i);
      expect(answer).toContain(SAID[index % 2]);
    }
  });
});

async function slowPeer(port: number, path: string): Promise<SlowPeer> {
  const socket = connect(port, '127.0.0.1');
  const told = allOf(socket);
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: localhost:${port}\r\norigin: http://localhost:${port}\r\n` +
      'content-type: application/x-www-form-urlencoded\r\ncontent-length: 1000\r\n\r\n',
  );
  const timer = setInterval(() => socket.write('a'), BYTE_EVERY_MS);
  return { told: told.finally(() => clearInterval(timer)), leave: () => socket.destroy() };
}

function allOf(socket: Socket): Promise<string> {
  let told = '';
  socket.setEncoding('utf8').on('data', (piece: string) => {
    told += piece;
  });
  // A byte that goes out after the other side has closed ends in an error; what was told is here by then.
  socket.on('error', () => undefined);
  return new Promise((resolve) => socket.once('close', () => resolve(told)));
}
