import { closeSync, openSync, readSync } from 'node:fs';
import { Sqlite } from '../better-sqlite3.js';

const REPEATED_EVERY_MS = 1_000;
const HEADER_BYTES = 32;

/**
 * The log of a database that was not closed. After a failed sync, the log that the system shows may lack
 * pages on the disk, and with them all that comes later. So it is written into the file and begun anew.
 */
export class UnclosedLog {
  #found = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly file: string,
    private readonly onKept: (isKept: boolean) => void = () => undefined,
  ) {}

  /** `write` begins the log anew, unless another program reads it: then `writeLater` does. */
  async replace(write: () => Promise<unknown>, writeLater: () => Promise<unknown>): Promise<void> {
    this.#found = this.#header();
    if (!(await this.#isReplacedBy(write))) {
      this.#timer = setInterval(() => void this.#tryAgain(writeLater), REPEATED_EVERY_MS).unref();
      this.onKept(true);
    }
  }

  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #tryAgain(write: () => Promise<unknown>): Promise<void> {
    // Other writes report a disk that fails.
    if ((await this.#isReplacedBy(write).catch(() => false)) && this.#timer) {
      this.end();
      this.onKept(false);
    }
  }

  /** A write begins the log anew if the file has all of it and no other program reads it. */
  async #isReplacedBy(write: () => Promise<unknown>): Promise<boolean> {
    const database = new Sqlite(this.file, { fileMustExist: true, timeout: 0 });
    try {
      database.pragma('wal_checkpoint(PASSIVE)');
    } finally {
      database.close();
    }
    await write();
    return this.#header() !== this.#found;
  }

  #header(): string {
    const log = openSync(`${this.file}-wal`, 'r');
    try {
      const header = Buffer.alloc(HEADER_BYTES);
      readSync(log, header);
      return header.toString('hex');
    } finally {
      closeSync(log);
    }
  }
}
