import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

export interface SlowReader {
  status: number;
  response: IncomingMessage;
  /** The next piece, or undefined at the end. */
  read(): Promise<Buffer | undefined>;
  leave(): void;
}

/** A client that reads on demand, so that unread data holds up the writer. */
export async function slowReader(
  port: number,
  path: string,
  headers: Record<string, string>,
): Promise<SlowReader> {
  const outgoing = request({ host: '127.0.0.1', port, path, headers, agent: false });
  outgoing.on('error', () => undefined).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const pieces = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  return {
    status: response.statusCode ?? 0,
    response,
    read: async () => {
      const next = await pieces.next();
      return next.done ? undefined : next.value;
    },
    leave: () => outgoing.destroy(),
  };
}
