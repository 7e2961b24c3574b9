import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { backoffDelayMs, pause } from '../../../workflows/backoff.js';
import { searchAttributes } from '../../../workflows/contract.js';
import { findTemporal } from '../../../workflows/dev-server/find.js';
import { startDevServer } from '../../../workflows/dev-server/start.js';
import type { Config } from '../../config/config.js';
import type { Log } from '../../telemetry/log.js';
import { temporalUiUrl } from '../from-config.js';

const USUAL_PORT = 7233;

/** The usual port if it is free, else any free one. */
export async function freeTemporalAddress(): Promise<string> {
  const port = await freePort(USUAL_PORT).catch(() => freePort(0));
  return `127.0.0.1:${port}`;
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
export class TemporalOfDemo {
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  isUp = false;

  constructor(
    private readonly config: Config,
    private readonly address: string,
    private readonly log: Log,
    private readonly say: (line: string) => void,
  ) {}

  start(): void {
    this.#running = this.#keepRunning().catch((error: unknown) => {
      if (!this.#stop.signal.aborted) {
        this.say((error as Error).message);
      }
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('The service is ending.'));
    await this.#running;
  }

  async #keepRunning(): Promise<void> {
    const { signal } = this.#stop;
    const executable = await findTemporal({ signal, onProgress: (line) => this.say(line) });
    for (let failures = 1; !signal.aborted; failures += 1) {
      const startedAt = performance.now();
      const reason = await this.#runOnce(executable);
      if (!signal.aborted) {
        failures = performance.now() - startedAt > STABLE_AFTER_MS ? 1 : failures;
        this.log.warn('temporal is away, starting it again', { failures, reason });
        await pause(backoffDelayMs(failures, RESTARTS), signal);
      }
    }
  }

  /** Runs until the process ends; returns why. */
  async #runOnce(executable: string): Promise<string> {
    try {
      const server = await startDevServer({
        executable,
        address: this.address,
        uiPort: this.config.TEMPORAL_UI_PORT,
        databaseFile: join(this.config.DATA_DIR, 'temporal.db'),
        namespace: this.config.TEMPORAL_NAMESPACE,
        searchAttributes,
        signal: this.#stop.signal,
        log: this.log,
      });
      this.isUp = true;
      const uiUrl = temporalUiUrl({ ...this.config, TEMPORAL_UI_URL: server.uiUrl });
      this.say(`Temporal has joined. Its UI: ${uiUrl}`);
      const { code, signal } = await server.exited;
      return `it ended with ${signal ?? code}`;
    } catch (error) {
      return (error as Error).message;
    } finally {
      this.isUp = false;
    }
  }
}
