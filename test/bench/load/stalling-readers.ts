import { once, setMaxListeners } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface StallingReaders {
  count: number;
  port: number;
  path: string;
  headers: Record<string, string>;
}

/** Takes a piece so often, which is nothing beside what there is to read. */
const READ_EVERY_MS = 5_000;
const PIECE_BYTES = 4_096;
/** As the gateway's Retry-After says. */
const RETRY_AFTER_MS = 5_000;
const ANSWERED_OK = 'HTTP/1.1 200';

/** Readers that hold on to a long list, and come back when they are refused or cut. Ends with the function that it resolves to. */
export async function startStallingReaders(readers: StallingReaders): Promise<() => void> {
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  const begun = Array.from({ length: readers.count }, () => {
    let tell: () => void = () => undefined;
    const first = new Promise<void>((resolve) => {
      tell = resolve;
    });
    void readForEver(readers, over.signal, tell).catch(() => undefined);
    return first;
  });
  await Promise.all(begun);
  return () => over.abort();
}

async function readForEver(readers: StallingReaders, over: AbortSignal, answered: () => void): Promise<void> {
  while (!over.aborted) {
    const socket = connect(readers.port, '127.0.0.1');
    const leave = () => socket.destroy();
    over.addEventListener('abort', leave);
    try {
      await stall(socket, readers, over, answered);
    } finally {
      over.removeEventListener('abort', leave);
      socket.destroy();
    }
    await sleep(RETRY_AFTER_MS, undefined, { signal: over });
  }
}

/** Until the list is refused, cut, or at its end. */
async function stall(
  socket: Socket,
  { path, headers }: StallingReaders,
  over: AbortSignal,
  answered: () => void,
): Promise<void> {
  const closed = once(socket, 'close').then(() => 'closed' as const);
  socket.on('error', () => undefined);
  const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}`);
  socket.write([`GET ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
  if ((await Promise.race([once(socket, 'readable'), closed])) === 'closed') {
    return;
  }
  answered();
  const start = String(socket.read(ANSWERED_OK.length) ?? '');
  while (start === ANSWERED_OK && !socket.destroyed && !over.aborted) {
    await Promise.race([sleep(READ_EVERY_MS, undefined, { signal: over }), closed]);
    socket.read(PIECE_BYTES);
  }
}
