import type { FileLine } from '../file-lines.js';

/** How far the service has come in a file, which is read and sent ahead of it. */
export class ImportProgress {
  /** The bytes of the file up to the end of each line that was sent. */
  readonly #ends: number[] = [];
  #readBytes = 0;
  /** The number of the line that was read last. */
  readLines = 0;
  /** A signal has ended the lines before the end of the file. */
  isStopped = false;

  constructor(private readonly fileBytes: number | undefined) {}

  /** Passes the lines on, and counts them and their bytes. */
  async *counted(lines: AsyncIterable<FileLine>, stop?: AbortSignal): AsyncGenerator<FileLine> {
    for await (const line of lines) {
      this.#readBytes += line.bytes + 1;
      this.readLines += 1;
      yield line;
    }
    this.isStopped = stop?.aborted ?? false;
  }

  /** The line that was read last will be sent. */
  sent(): void {
    this.#ends.push(this.#readBytes);
  }

  /** From 0 to 1, when the service has answered this many lines; undefined for a file of unknown length. */
  share(answeredLines: number): number | undefined {
    if (this.fileBytes === undefined) {
      return undefined;
    }
    const end = this.#ends[answeredLines - 1] ?? 0;
    return Math.min(end / Math.max(this.fileBytes, 1), 1);
  }
}
