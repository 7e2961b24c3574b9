import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export interface SlowRead {
  port: number;
  path: string;
  headers: Record<string, string>;
  /** Until then one piece after the other, with a pause behind each; from then on as fast as they come. */
  slowUntil: Promise<void>;
  pauseMs: number;
}

/** Reads an answer to its end and says how many bytes it had. */
export async function readSlowly({ port, path, headers, slowUntil, pauseMs }: SlowRead): Promise<number> {
  let slow = true;
  void slowUntil.then(() => {
    slow = false;
  });
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, headers, agent: false }, resolve).once('error', reject);
  });
  if (answer.statusCode !== 200) {
    throw new Error(`${path} answered ${answer.statusCode}, not 200.`);
  }
  let bytes = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (slow) {
      await Promise.race([sleep(pauseMs), slowUntil]);
    }
  }
  return bytes;
}
