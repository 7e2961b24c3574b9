import { close, fdatasync, open } from 'node:fs';
import { promisify } from 'node:util';

const openFile = promisify(open);
const closeFile = promisify(close);
const syncFile = promisify(fdatasync);

/** Just enough of a file to have it written to the disk, and to be tested without one that fails. */
export interface SyncedFile {
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** A file that others write and that is there by the time of its first sync. */
export function syncedFile(path: string): SyncedFile {
  let opened: Promise<number> | undefined;
  return {
    sync: async () => {
      opened ??= openFile(path, 'r+');
      await syncFile(await opened);
    },
    close: async () => {
      const wasOpened = opened;
      opened = undefined;
      if (wasOpened) {
        await closeFile(await wasOpened);
      }
    },
  };
}

interface Waiting {
  resolve: () => void;
  reject: (reason: unknown) => void;
}

/**
 * Waits for the disk in a thread of its own, one wait at a time, which serves all who asked before it began. After one that failed none
 * succeeds: the system may have let go of what it could not write, and would say the next time that all is well.
 */
export class FileSync {
  #asking: Waiting[] = [];
  #running: Promise<void> | undefined;
  #failure: unknown;

  constructor(private readonly file: SyncedFile) {}

  /** Resolves when everything that was in the file when it was called would survive a power cut. */
  done(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#asking.push({ resolve, reject });
      this.#running ??= this.#syncAll();
    });
  }

  async close(): Promise<void> {
    await this.#running;
    await this.file.close();
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
      }
    }
  }
}
