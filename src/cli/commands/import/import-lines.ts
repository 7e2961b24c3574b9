import { statSync } from 'node:fs';
import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import type { FieldViolation } from '../../../errors/service-error.js';
import { explaining } from '../../explaining.js';
import { UsageError } from '../errors.js';
import { type FileLine, linesOf, linesOfFile, unreadable } from '../file-lines.js';
import { jsonIn } from '../json.js';

/** The most in a message, and in a line. The service reads 256 KiB; a record is no longer than its JSON. */
export const BYTES_IN_MESSAGE = 250_000;
const LINES_IN_MESSAGE = 200;
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

/** Messages of the import: its options, then batches of lines. Empty lines count for line numbers only. */
export async function* messagesOf(
  lines: AsyncIterable<FileLine>,
  options: { dryRun: boolean; stopAtFirstRefusal: boolean; reportIds: boolean },
  misfitsOf: (line: JsonObject) => readonly FieldViolation[],
  onMisfit: (misfit: Misfit) => void,
): AsyncGenerator<JsonObject> {
  yield { options };
  let batch: JsonObject[] = [];
  let batchBytes = 0;
  let number = 0;
  for await (const { text, bytes } of lines) {
    number += 1;
    if (text?.trim() === '') {
      continue;
    }
    const record = text === undefined ? undefined : jsonObjectIn(text);
    const violations = record ? misfitsOf(record) : [{ path: 'line', message: faultOf(text, bytes) }];
    if (record === undefined || violations.length > 0) {
      onMisfit({ line: number, violations });
      if (options.stopAtFirstRefusal) {
        break;
      }
      continue;
    }
    if (batch.length === LINES_IN_MESSAGE || batchBytes + bytes > BYTES_IN_MESSAGE) {
      yield { lines: { lines: batch } };
      batch = [];
      batchBytes = 0;
    }
    batch.push({ ...record, line: number });
    batchBytes += bytes;
  }
  if (batch.length > 0) {
    yield { lines: { lines: batch } };
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
