import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { listenOnLoopback, onLoopback } from './loopback.js';

/** What becomes of the next commit: it never reaches the server, or its answer never reaches the client. */
export type Stall = 'before the commit' | 'before its answer';

/** A proxy to a server, PostgreSQL or another, that silences, slows or cuts connections. */
export async function stallingProxy(serverUrl: string) {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  /** Directions that have held data. */
  const directions = new Set<Direction>();
  /** For each connection, a function that silences it for good. */
  const silencers = new Set<() => void>();
  /** For each connection, a function that lets the proxy reset it when its client next sends data. */
  const losers = new Set<() => void>();
  let next: Stall | undefined;
  let stalled = 0;
  let felt = 0;
  let isFrozen = false;
  /** Both ways, or only what the server answers. */
  let held: 'all' | 'answers' | undefined;
  let isCut = false;
  let delaysMs = { there: 0, back: 0 };
  let dueOf: (asked: Buffer) => Promise<unknown> | undefined = () => undefined;
  const server = createServer({ noDelay: true }, (client) => {
    if (isCut) {
      felt += 1;
      client.resetAndDestroy();
      return;
    }
    const behind = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    let isSilent = false;
    let isForgotten = false;
    let isLost = false;
    const silence = () => {
      isForgotten = true;
    };
    silencers.add(silence);
    const lose = () => {
      isLost = true;
    };
    losers.add(lose);
    for (const socket of [client, behind]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    const ways = { there: new Direction(), back: new Direction() };
    const along = (way: 'there' | 'back', act: () => void, due?: Promise<unknown>) => {
      if (isForgotten) {
        felt += 1;
        return;
      }
      const isHeld = held === 'all' || (held === 'answers' && way === 'back');
      felt += isHeld || delaysMs[way] > 0 ? 1 : 0;
      if (isHeld) {
        directions.add(ways[way]);
      }
      ways[way].pass(act, isHeld ? undefined : (due ?? delaysMs[way]));
    };
    let asked = Buffer.alloc(0);
    client.on('data', (data) => {
      asked = data;
      if (isLost) {
        felt += 1;
        client.resetAndDestroy();
        return;
      }
      if (isSilent || isFrozen) {
        return;
      }
      if (next && isCommit(data)) {
        isSilent = true;
        stalled += 1;
        if (next === 'before its answer') {
          behind.write(data);
        }
        next = undefined;
        return;
      }
      along('there', () => behind.write(data));
    });
    behind.on(
      'data',
      (data) => isSilent || isFrozen || along('back', () => client.write(data), dueOf(asked)),
    );
    client.on('close', () => {
      silencers.delete(silence);
      losers.delete(lose);
      along('there', () => behind.destroy());
    });
    behind.on('close', () => isSilent || isFrozen || along('back', () => client.destroy()));
  });
  const port = await listenOnLoopback(server);
  const arriveAll = () => {
    for (const direction of directions) {
      direction.arrive();
    }
    directions.clear();
  };
  return {
    url: onLoopback(serverUrl, port).href,
    address: `127.0.0.1:${port}`,
    stallNext: (stall: Stall) => {
      next = stall;
    },
    stalled: () => stalled,
    /** How many chunks and connections were cut, held, delayed or forgotten so far. */
    felt: () => felt,
    /** As a frozen server: connections stay and new ones are accepted, but none gets an answer. */
    freeze: () => {
      isFrozen = true;
    },
    /** As a broken network: data both ways, or only from the server, waits and arrives after `release`. */
    hold: (what: 'all' | 'answers' = 'all') => {
      held = what;
    },
    release: () => {
      held = undefined;
      arriveAll();
    },
    /** As a restarted firewall: data on existing connections never arrives; new connections work. */
    forget: () => {
      for (const silence of silencers) {
        silence();
      }
    },
    /** As a gateway that lost its table of connections: resets each when its client next sends data. */
    lose: () => {
      for (const lose of losers) {
        lose();
      }
    },
    /** As a slow or distant server: from now on each chunk arrives this much later, in order. */
    delay: (ms: number, what: 'all' | 'answers' = 'answers') => {
      delaysMs = { there: what === 'all' ? ms : 0, back: ms };
    },
    /** From now on an answer, to what was asked last on its connection, arrives with this promise. */
    answerAt: (due: typeof dueOf) => {
      dueOf = due;
    },
    /** Resets every connection, and each new one until `mend`. */
    cut: () => {
      isCut = true;
      directions.clear();
      felt += sockets.size;
      for (const socket of sockets) {
        socket.resetAndDestroy();
      }
    },
    mend: () => {
      isCut = false;
      delaysMs = { there: 0, back: 0 };
    },
    close: () => {
      for (const socket of sockets) {
        socket.destroy();
      }
      server.close();
    },
  };
}

interface Passing {
  act: () => void;
  isDue: boolean;
}

/** One direction of a connection; its data arrives in order. */
class Direction {
  readonly #waiting: Passing[] = [];

  /** After so many milliseconds, with the promise, or at `arrive` if there is neither. */
  pass(act: () => void, due: number | Promise<unknown> | undefined): void {
    if (due === 0 && this.#waiting.length === 0) {
      act();
      return;
    }
    const passing = { act, isDue: false };
    this.#waiting.push(passing);
    if (due !== undefined) {
      void (typeof due === 'number' ? pause(due) : due).then(() => this.#noteDue(passing));
    }
  }

  arrive(): void {
    for (const { act } of this.#waiting.splice(0)) {
      act();
    }
  }

  #noteDue(passing: Passing): void {
    passing.isDue = true;
    while (this.#waiting[0]?.isDue) {
      this.#waiting.shift()?.act();
    }
  }
}

/** A pipelining client sends statements before it in the same chunk. */
function isCommit(data: Buffer): boolean {
  return data.includes('commit\0');
}
