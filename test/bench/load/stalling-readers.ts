import { once, setMaxListeners } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { signalled } from '../../support/signalled.js';

export interface StallingReaders {
  count: number;
  port: number;
  path: string;
  headers: Record<string, string>;
}

/** The pieces that a reader takes, tiny parts of the whole, and the time after which it reconnects. */
interface Manner {
  readEveryMs: number;
  leaveAfterMs?: number;
}

/** A third each: readers that stall, that read slowly, and that reconnect. */
const MANNERS: readonly [Manner, ...Manner[]] = [
  { readEveryMs: 5_000 },
  { readEveryMs: 250 },
  { readEveryMs: 5_000, leaveAfterMs: 5_000 },
];
const PIECE_BYTES = 4_096;
/** Who was cut waits as those do who are refused. */
const WAIT_SECONDS = 5;
const ANSWERED_OK = 'HTTP/1.1 200';
const RETRY_AFTER = /\r\nretry-after: *(\d+)/i;

/** Readers of a long list that reconnect when refused or cut. Ends with the returned function. */
export async function startStallingReaders(readers: StallingReaders): Promise<() => void> {
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  const begun = Array.from({ length: readers.count }, (_, number) => {
    const { told: first, tell } = signalled();
    const manner = MANNERS[number % MANNERS.length] as Manner;
    void readForEver(readers, manner, over.signal, tell).catch(() => undefined);
    return first;
  });
  await Promise.all(begun);
  return () => over.abort();
}

async function readForEver(
  readers: StallingReaders,
  manner: Manner,
  over: AbortSignal,
  answered: () => void,
): Promise<void> {
  while (!over.aborted) {
    const socket = connect(readers.port, '127.0.0.1');
    const leave = () => socket.destroy();
    over.addEventListener('abort', leave);
    let waitSeconds = WAIT_SECONDS;
    try {
      waitSeconds = await stall(socket, readers, manner, over, answered);
    } finally {
      over.removeEventListener('abort', leave);
      socket.destroy();
    }
    await sleep(waitSeconds * 1_000, undefined, { signal: over });
  }
}

/** Until the list is refused, cut, left, or at its end. Resolves to how long to wait then. */
async function stall(
  socket: Socket,
  { path, headers }: StallingReaders,
  { readEveryMs, leaveAfterMs = Number.POSITIVE_INFINITY }: Manner,
  over: AbortSignal,
  answered: () => void,
): Promise<number> {
  const closed = once(socket, 'close').then(() => 'closed' as const);
  socket.on('error', () => undefined);
  const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}`);
  socket.write([`GET ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
  if ((await Promise.race([once(socket, 'readable'), closed])) === 'closed') {
    return WAIT_SECONDS;
  }
  answered();
  const start = String(socket.read(ANSWERED_OK.length) ?? '');
  if (start !== ANSWERED_OK) {
    const [, seconds = WAIT_SECONDS] = RETRY_AFTER.exec(String(socket.read() ?? '')) ?? [];
    return Number(seconds);
  }
  const leaveAt = performance.now() + leaveAfterMs;
  while (!socket.destroyed && performance.now() < leaveAt) {
    await Promise.race([sleep(readEveryMs, undefined, { signal: over }), closed]);
    socket.read(PIECE_BYTES);
  }
  return socket.destroyed ? WAIT_SECONDS : 0;
}
