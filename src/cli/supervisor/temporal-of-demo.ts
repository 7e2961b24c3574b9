import { join } from 'node:path';
import { searchAttributes } from '../../../workflows/contract.js';
import { findTemporal } from '../../../workflows/dev-server/find.js';
import { type DevServer, startDevServer } from '../../../workflows/dev-server/start.js';
import type { Config } from '../../config/config.js';
import type { Log } from '../../telemetry/log.js';

const MAX_RESTART_DELAY_MS = 30_000;

/** The Temporal server that a demo environment runs for itself. Nobody waits for it; the worker joins when it is there. */
export class TemporalOfDemo {
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

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
    const { executable } = await findTemporal({ signal, onProgress: (line) => this.say(line) });
    for (let failures = 0; !signal.aborted; failures += 1) {
      const server = await this.#startOnce(executable);
      this.say(`Temporal has joined. Its UI: ${server.uiUrl}`);
      await server.exited;
      if (!signal.aborted) {
        this.log.warn('temporal ended, starting it again', { failures });
        await new Promise((resolve) =>
          setTimeout(resolve, Math.min(1_000 * 2 ** failures, MAX_RESTART_DELAY_MS)),
        );
      }
    }
  }

  #startOnce(executable: string): Promise<DevServer> {
    return startDevServer({
      executable,
      address: this.address,
      uiPort: this.config.TEMPORAL_UI_PORT,
      databaseFile: join(this.config.DATA_DIR, 'temporal.db'),
      namespace: this.config.TEMPORAL_NAMESPACE,
      searchAttributes,
      signal: this.#stop.signal,
      log: this.log,
    });
  }
}
