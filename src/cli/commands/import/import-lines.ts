import { statSync } from 'node:fs';
import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import type { FieldViolation } from '../../../errors/service-error.js';
import { explaining } from '../../startup-error.js';
import { UsageError } from '../errors.js';
import { type FileLine, linesOf, linesOfFile, unreadable } from '../file-lines.js';
import { jsonIn } from '../json.js';

/** The most in a message, and in a line. The service reads 256 KiB; a record is no longer than its JSON. */
export const BYTES_IN_MESSAGE = 250_000;
/** The service accepts 200 audit records in a message, and 1,000 lines of an import. */
const ITEMS_IN_MESSAGE = 200;

/** A line that is not sent: it is not JSON, or has unknown fields. */
interface Misfit {
  line: number;
  violations: readonly FieldViolation[];
}

/** The lines of the file until `stop`, and its size in bytes, which is unknown for piped input. */
export function openLines(
  file: string,
  stop?: AbortSignal,
): { lines: AsyncIterable<FileLine>; size?: number } {
  if (file === '-') {
    return { lines: linesOf(process.stdin, BYTES_IN_MESSAGE, stop) };
  }
  const { size } = explaining(
    UsageError,
    (why) => unreadable(why, file),
    () => statSync(file),
  );
  return { lines: linesOfFile(file, BYTES_IN_MESSAGE, stop), size };
}

/** Messages of the import: its options, then batches of lines. */
export async function* messagesOf(
  lines: AsyncIterable<FileLine>,
  options: { dryRun: boolean; stopAtFirstRefusal: boolean; reportIds: boolean },
  misfitsOf: (line: JsonObject) => readonly FieldViolation[],
  onMisfit: (misfit: Misfit) => void,
): AsyncGenerator<JsonObject> {
  yield { options };
  const fitting = async function* () {
    for await (const { line, text, bytes } of numbered(lines)) {
      const record = text === undefined ? undefined : jsonObjectIn(text);
      const violations = record ? misfitsOf(record) : [{ path: 'line', message: faultOf(text, bytes) }];
      if (record !== undefined && violations.length === 0) {
        yield { item: { ...record, line }, bytes };
        continue;
      }
      onMisfit({ line, violations });
      if (options.stopAtFirstRefusal) {
        return;
      }
    }
  };
  for await (const batch of inMessages(fitting())) {
    yield { lines: { lines: batch } };
  }
}

/** Numbers all lines, and skips the empty ones. */
export async function* numbered(lines: AsyncIterable<FileLine>): AsyncGenerator<FileLine & { line: number }> {
  let line = 0;
  for await (const { text, bytes } of lines) {
    line += 1;
    if (text?.trim() !== '') {
      yield { line, text, bytes };
    }
  }
}

/** Batches with as many items and bytes as a message may have. */
export async function* inMessages<T>(items: AsyncIterable<{ item: T; bytes: number }>): AsyncGenerator<T[]> {
  let batch: T[] = [];
  let batchBytes = 0;
  for await (const { item, bytes } of items) {
    if (batch.length === ITEMS_IN_MESSAGE || batchBytes + bytes > BYTES_IN_MESSAGE) {
      yield batch;
      batch = [];
      batchBytes = 0;
    }
    batch.push(item);
    batchBytes += bytes;
  }
  if (batch.length > 0) {
    yield batch;
  }
}

function faultOf(text: string | undefined, bytes: number): string {
  if (bytes > BYTES_IN_MESSAGE) {
    return `must not be longer than ${BYTES_IN_MESSAGE} bytes`;
  }
  return text === undefined ? 'must be encoded as UTF-8' : 'must be a JSON object';
}

/** Undefined for anything else. */
export function jsonObjectIn(text: string): JsonObject | undefined {
  const value = jsonIn(text) as JsonValue | undefined;
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

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
