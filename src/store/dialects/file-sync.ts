import { closeSync, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';

const syncDescriptor = promisify(fdatasync);

/** The part of a file needed to sync it; replaced in tests. */
interface SyncedFile {
  sync(): Promise<void>;
  close(): void;
}

/** An existing file that SQLite writes. */
export function syncedFile(path: string): SyncedFile {
  const descriptor = openSync(path, 'r+');
  return { sync: () => syncDescriptor(descriptor), close: () => closeSync(descriptor) };
}

interface Waiting {
  resolve: () => void;
  reject: (reason: unknown) => void;
}

/**
 * Calls fdatasync in a thread, one call at a time for all callers that asked before it began. After a failure
 * every later sync fails too: the kernel may have dropped the unwritten pages, and would report success.
 */
export class FileSync {
  #asking: Waiting[] = [];
  #running: Promise<void> | undefined;
  #failure: unknown;

  constructor(
    private readonly file: SyncedFile,
    /** Called once, at the first failure. */
    private readonly onFailure: (error: unknown) => void,
    private readonly onSynced: (durationMs: number) => void = () => undefined,
  ) {}

  /** Resolves when the content at the time of the call would survive a power failure. */
  done(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#asking.push({ resolve, reject });
      this.#running ??= this.#syncAll();
    });
  }

  /** Throws after a failed sync. Call it before each write that must survive a power failure. */
  assertSound(): void {
    if (this.#failure !== undefined) {
      throw this.#failure;
    }
  }

  async close(): Promise<void> {
    await this.#running;
    this.file.close();
  }

  async #syncAll(): Promise<void> {
    while (this.#asking.length > 0) {
      const served = this.#asking.splice(0);
      await this.#sync();
      for (const { resolve, reject } of served) {
        this.#failure === undefined ? resolve() : reject(this.#failure);
      }
    }
    this.#running = undefined;
  }

  async #sync(): Promise<void> {
    if (this.#failure === undefined) {
      const begunAt = performance.now();
      try {
        await this.file.sync();
      } catch (error) {
        this.#failure = error;
        this.onFailure(error);
      } finally {
        this.onSynced(performance.now() - begunAt);
      }
    }
  }
}
