import { watch } from 'node:fs';
import { join } from 'node:path';
import { Sqlite } from '../../../src/store/better-sqlite3.js';
import type { LineDriver } from '../../sdk/drivers/line-driver.js';
import { entitiesIn } from '../../sdk/drivers/sync/store-file.js';

export interface CopyOptions {
  language: string;
  /** A program that keeps it, in a process of its own. */
  program: () => LineDriver;
  directory: string;
  gatewayUrl: string;
  apiKey: string;
  instanceIntegrationId: string;
}

/** Retries are quick, because the service is often away. */
const RETRY = { maxRetries: 2, baseDelaySeconds: 0.05 };
const MODULUS = 2n ** 52n;

/** A mirror in a file, kept by an SDK. */
export class Copy {
  readonly language: string;
  /** What its programs said unasked: each is a fault. */
  readonly faults: object[] = [];
  #program: LineDriver | undefined;

  constructor(private readonly options: CopyOptions) {
    this.language = options.language;
  }

  /** Follows the gateway from what the file has, and compares it with the digests. */
  async start(): Promise<void> {
    const { program, gatewayUrl, apiKey, instanceIntegrationId } = this.options;
    this.#program = program();
    const options = { baseUrl: gatewayUrl, apiKey, retry: RETRY };
    const { error } = await this.#program.sync('start', options, [instanceIntegrationId], {
      store: this.#file,
      pauseSeconds: 0.01,
    });
    if (error) {
      throw new Error(`${this.language} did not start: ${error.message}`);
    }
  }

  /** Its next program repairs what is missing, so what this one said counts too. */
  async kill(): Promise<void> {
    await this.#program?.kill();
    this.faults.push(...(this.#program?.unasked ?? []));
    this.#program = undefined;
  }

  /** Settles, within a transaction or after one, when its files have changed so often. */
  async untilChanged(times: number): Promise<void> {
    let left = times;
    await new Promise<void>((resolve) => {
      const watcher = watch(this.options.directory, () => {
        left -= 1;
        if (left <= 0) {
          watcher.close();
          resolve();
        }
      });
    });
  }

  /** Resources by type and id. */
  resources(): Record<string, unknown> {
    return Object.fromEntries(
      entitiesIn(this.#file).map(({ type, id, resource }) => [`${type} ${id}`, resource]),
    );
  }

  /** How often it was read from the beginning. A cursor that has expired adds one, and no other report. */
  loads(): number {
    const database = new Sqlite(this.#file, { readonly: true });
    try {
      return database.prepare('select load from sync_state').pluck().get() as number;
    } finally {
      database.close();
    }
  }

  /** Counts and sums of versions by client and type. */
  digests(): Record<string, { count: number; digest: number }> {
    const sums: Record<string, { count: number; digest: number }> = {};
    for (const { clientId, type, version } of entitiesIn(this.#file)) {
      const { count, digest } = sums[`${clientId} ${type}`] ?? { count: 0, digest: 0 };
      const sum = (BigInt(digest) + BigInt(version)) % MODULUS;
      sums[`${clientId} ${type}`] = { count: count + 1, digest: Number(sum) };
    }
    return sums;
  }

  get #file(): string {
    return join(this.options.directory, 'copy.sqlite');
  }
}
