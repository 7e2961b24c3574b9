import { createReadStream, type ReadStream } from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';
import { UsageError } from './errors.js';
import { printableLine } from './output/printable.js';

/** Leaves out a byte order mark. Other encodings would be read as names with replacement characters. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

export interface FileLine {
  /** Without its line break. */
  bytes: number;
  /** Undefined for a line that is too long, and for one that is not UTF-8. */
  text: string | undefined;
}

/** Opens the file at the first read: until then, an error of the stream would be uncaught. */
export async function* linesOfFile(
  file: string,
  maxBytes: number,
  stop?: AbortSignal,
): AsyncGenerator<FileLine> {
  yield* linesOf(createReadStream(file), maxBytes, stop);
}

/** The lines of `input`, until `stop`. */
export async function* linesOf(
  input: Readable,
  maxBytes: number,
  stop?: AbortSignal,
): AsyncGenerator<FileLine> {
  if (stop) {
    addAbortSignal(stop, input);
  }
  try {
    // Not readline's: it reports no read error, and drops the lines that arrive before the iteration.
    const line = new LineUnderWay(maxBytes);
    for await (const chunk of input as AsyncIterable<Buffer>) {
      let begin = 0;
      for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', begin)) {
        line.add(chunk.subarray(begin, end));
        yield line.end();
        begin = end + 1;
      }
      line.add(chunk.subarray(begin));
    }
    yield line.end();
  } catch (error) {
    if (stop?.aborted) {
      return;
    }
    const { path } = input as Partial<ReadStream>;
    throw new UsageError(unreadable((error as Error).message, path?.toString()));
  }
}

/** A sentence for what the system says of a file, or of what is piped in. */
export function unreadable(why: string, path?: string): string {
  const file = path === undefined ? 'The input' : `The file ${printableLine(path)}`;
  return why.startsWith('ENOENT')
    ? `There is no file ${printableLine(path ?? '')}.`
    : `${file} cannot be read: ${why}.`;
}

/** Joins the parts of a line once, at its end, and drops those of a line that is too long. */
class LineUnderWay {
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(private readonly maxBytes: number) {}

  add(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.maxBytes) {
      this.#parts = [];
    } else {
      this.#parts.push(part);
    }
  }

  end(): FileLine {
    const bytes = this.#bytes;
    const text = bytes > this.maxBytes ? undefined : textOf(Buffer.concat(this.#parts));
    this.#parts = [];
    this.#bytes = 0;
    return { bytes, text };
  }
}

function textOf(line: Buffer): string | undefined {
  try {
    return UTF_8.decode(line);
  } catch {
    return undefined;
  }
}
