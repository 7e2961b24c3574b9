import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { backoffDelayMs, pause } from '../../../workflows/backoff.js';
import { searchAttributes } from '../../../workflows/contract.js';
import { findTemporal } from '../../../workflows/dev-server/find.js';
import { startDevServer } from '../../../workflows/dev-server/start.js';
import type { Config } from '../../config/config.js';
import type { Log } from '../../telemetry/log.js';
import { temporalUiUrl } from '../from-config.js';
import { type Running, running } from '../roles/running.js';
import { runDirOf, temporalGroupFileOf } from '../sockets.js';

const USUAL_PORT = 7233;

/** Where the Temporal server of a demo listens. */
export interface TemporalOfDemo {
  address: string;
  uiPort: number;
}

/** The usual ports where they are free, else any free ones. */
export async function placeForTemporal({ TEMPORAL_UI_PORT }: Config): Promise<TemporalOfDemo> {
  const port = await claimPort(USUAL_PORT);
  return { address: `127.0.0.1:${port}`, uiPort: await claimPort(TEMPORAL_UI_PORT) };
}

/**
 * The server listens only once its program is installed, minutes later at the first start, and not while it
 * restarts. Until this process ends, a UDP socket keeps the wanted port from other demos, which would
 * otherwise choose it too.
 */
async function claimPort(wanted: number): Promise<number> {
  try {
    const port = await freePort(wanted);
    await once(createSocket('udp4').bind(port, '127.0.0.1').unref(), 'listening');
    return port;
  } catch {
    return freePort(0);
  }
}

async function freePort(wanted: number): Promise<number> {
  const probe = createServer().listen(wanted, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await once(probe.close(), 'close');
  return port;
}

const RESTARTS = { firstDelayMs: 1_000, maxDelayMs: 30_000 };
const STABLE_AFTER_MS = 60_000;

/** The Temporal server of a demo. Other roles do not wait for it; the worker joins when it is up. */
export function startTemporalOfDemo(
  config: Config,
  { address, uiPort }: TemporalOfDemo,
  log: Log,
  say: (line: string) => void,
): Running & { isUp(): boolean } {
  let isUp = false;
  const groupFile = temporalGroupFileOf(runDirOf(config));

  /** Runs until the process ends; returns why. */
  const runOnce = async (executable: string, ending: AbortSignal): Promise<string> => {
    try {
      const server = await startDevServer({
        executable,
        address,
        uiPort,
        databaseFile: join(config.DATA_DIR, 'temporal.db'),
        namespace: config.TEMPORAL_NAMESPACE,
        searchAttributes,
        signal: ending,
        onSpawned: (group) => writeFileSync(groupFile, String(group)),
        log,
      });
      isUp = true;
      say(`Temporal has joined. Its UI: ${temporalUiUrl({ ...config, TEMPORAL_UI_URL: server.uiUrl })}`);
      const { code, signal } = await server.exited;
      return `it ended with ${signal ?? code}`;
    } catch (error) {
      return (error as Error).message;
    } finally {
      isUp = false;
      rmSync(groupFile, { force: true });
    }
  };

  const { stop } = running(async (ending) => {
    try {
      const executable = await findTemporal({ signal: ending, onProgress: say });
      for (let failures = 1; !ending.aborted; failures += 1) {
        const startedAt = performance.now();
        const reason = await runOnce(executable, ending);
        if (!ending.aborted) {
          failures = performance.now() - startedAt > STABLE_AFTER_MS ? 1 : failures;
          log.warn('temporal is away, starting it again', { failures, reason });
          await pause(backoffDelayMs(failures, RESTARTS), ending);
        }
      }
    } catch (error) {
      if (!ending.aborted) {
        say((error as Error).message);
      }
    }
  });
  return { stop, isUp: () => isUp };
}
