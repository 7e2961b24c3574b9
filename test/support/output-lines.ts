import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

export type LogLine = Record<string, unknown> & { msg?: string; role?: string };

/** For what hangs; a little less than the limit of a test, so that a failure says what was not written. */
const LIMIT_MS = 150_000;

/** One line, taken apart when it is first asked for and never again: a storm writes thousands. */
class Written {
  #log: LogLine | undefined;

  constructor(readonly text: string) {}

  get log(): LogLine | undefined {
    if (!this.#log && this.text.startsWith('{"level"')) {
      this.#log = JSON.parse(this.text) as LogLine;
    }
    return this.#log;
  }
}

/** What a process writes, line by line: what it has written so far, and what it is waited for to write. */
export class OutputLines {
  readonly #lines: Written[] = [];
  readonly #watchers = new Set<(line: Written) => void>();

  read(stream: Readable | null): void {
    if (stream) {
      createInterface({ input: stream }).on('line', (text) => {
        const line = new Written(text);
        this.#lines.push(line);
        for (const look of [...this.#watchers]) {
          look(line);
        }
      });
    }
  }

  text(): string {
    return this.#lines.map(({ text }) => text).join('\n');
  }

  /** Those that are log lines. */
  lines(): LogLine[] {
    return this.#lines.flatMap(({ log }) => (log ? [log] : []));
  }

  /** The first log line that fits, written already or yet to come. */
  nextLine(fits: (line: LogLine) => boolean, limitMs = LIMIT_MS): Promise<LogLine> {
    return this.#first('a log line', ({ log }) => (log && fits(log) ? log : undefined), limitMs);
  }

  nextText(wanted: string, limitMs = LIMIT_MS): Promise<string> {
    return this.#first(wanted, ({ text }) => (text.includes(wanted) ? text : undefined), limitMs);
  }

  async #first<T>(what: string, look: (line: Written) => T | undefined, limitMs = LIMIT_MS): Promise<T> {
    for (const line of this.#lines) {
      const found = look(line);
      if (found !== undefined) {
        return found;
      }
    }
    return this.#next(what, look, limitMs);
  }

  #next<T>(what: string, look: (line: Written) => T | undefined, limitMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#watchers.delete(watch);
        reject(new Error(`Not written within ${limitMs} ms: ${what}. Written was:\n${this.text()}`));
      }, limitMs);
      const watch = (line: Written) => {
        const found = look(line);
        if (found !== undefined) {
          clearTimeout(timer);
          this.#watchers.delete(watch);
          resolve(found);
        }
      };
      this.#watchers.add(watch);
    });
  }
}
