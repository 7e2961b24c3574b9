import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

export type LogLine = Record<string, unknown> & { msg?: string; role?: string };

const LIMIT_MS = 20_000;

/** What a process writes, line by line: what it has written so far, and what it is waited for to write. */
export class OutputLines {
  readonly #lines: string[] = [];
  readonly #watchers = new Set<() => void>();

  read(stream: Readable | null): void {
    if (stream) {
      createInterface({ input: stream }).on('line', (line) => {
        this.#lines.push(line);
        for (const look of [...this.#watchers]) {
          look();
        }
      });
    }
  }

  text(): string {
    return this.#lines.join('\n');
  }

  /** Those that are log lines. */
  lines(): LogLine[] {
    return this.#lines.flatMap((line) => (line.startsWith('{"level"') ? [JSON.parse(line) as LogLine] : []));
  }

  /** The first log line that fits, written already or yet to come. */
  nextLine(fits: (line: LogLine) => boolean): Promise<LogLine> {
    return this.#until('a log line', () => this.lines().find(fits));
  }

  nextText(wanted: string): Promise<string> {
    return this.#until(wanted, () => this.#lines.find((line) => line.includes(wanted)));
  }

  #until<T>(what: string, look: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#watchers.delete(attempt);
        reject(new Error(`Not written within ${LIMIT_MS} ms: ${what}. Written was:\n${this.text()}`));
      }, LIMIT_MS);
      const attempt = () => {
        const found = look();
        if (found !== undefined) {
          clearTimeout(timer);
          this.#watchers.delete(attempt);
          resolve(found);
        }
      };
      this.#watchers.add(attempt);
      attempt();
    });
  }
}
