import { createServer } from 'node:net';

const USUAL_PORT = 7233;

/** The usual port if it is free, else any free one. */
export async function freeTemporalAddress(): Promise<string> {
  const port = (await portIsFree(USUAL_PORT)) ? USUAL_PORT : await portIsFree(0);
  return `127.0.0.1:${port}`;
}

function portIsFree(port: number): Promise<number | false> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : false));
    });
  });
}
