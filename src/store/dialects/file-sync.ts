import { closeSync, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';

const syncDescriptor = promisify(fdatasync);

/** Just enough of a file to have it written to the disk, and to be tested without a disk that fails. */
export interface SyncedFile {
  sync(): Promise<void>;
  close(): void;
}

/** A file that is there already, and that others write. */
export function syncedFile(path: string): SyncedFile {
  const descriptor = openSync(path, 'r+');
  return { sync: () => syncDescriptor(descriptor), close: () => closeSync(descriptor) };
}

interface Waiting {
  resolve: () => void;
  reject: (reason: unknown) => void;
}

/**
 * Waits for the disk beside the event loop, one wait at a time, which serves all who asked before it began. After one that failed none
 * succeeds: the system may have let go of what it could not write, and would say the next time that all is well.
 */
export class FileSync {
  #asking: Waiting[] = [];
  #running: Promise<void> | undefined;
  #failure: unknown;

  constructor(
    private readonly file: SyncedFile,
    /** Hears of the failure after which nothing can be promised any more. */
    private readonly onFailure: (error: unknown) => void,
  ) {}

  /** Resolves when everything that was in the file when it was called would survive a power cut. */
  done(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#asking.push({ resolve, reject });
      this.#running ??= this.#syncAll();
    });
  }

  /** Before anything is written that could not be promised. */
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
      try {
        await this.file.sync();
      } catch (error) {
        this.#failure = error;
        this.onFailure(error);
      }
    }
  }
}
