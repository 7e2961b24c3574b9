import { createReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import type { FieldViolation } from '../../../errors/service-error.js';
import { UsageError } from '../usage-error.js';

const LINES_IN_MESSAGE = 200;
const CHARACTERS_IN_MESSAGE = 1_000_000;

/** A line that is not sent: it is not JSON, or has unknown fields. */
interface Misfit {
  line: number;
  violations: readonly FieldViolation[];
}

/** The lines of the file, and its bytes; without the latter for what is piped in. */
export function openLines(file: string): { lines: AsyncIterable<string>; size?: number } {
  if (file === '-') {
    return { lines: linesOf(process.stdin) };
  }
  try {
    const { size } = statSync(file);
    return { lines: linesOf(createReadStream(file)), size };
  } catch (error) {
    throw new UsageError(`The file cannot be read: ${(error as Error).message}.`);
  }
}

async function* linesOf(input: Readable): AsyncGenerator<string> {
  try {
    // Not readline's: it reports no read error, and drops the lines that arrive before the iteration.
    let rest = '';
    for await (const chunk of input.setEncoding('utf8')) {
      const parts = (rest + chunk).split('\n');
      rest = parts.pop() ?? '';
      yield* parts;
    }
    yield rest;
  } catch (error) {
    throw new UsageError(`The file cannot be read: ${(error as Error).message}.`);
  }
}

/** Messages of the import: its options, then batches of lines. Empty lines count for line numbers only. */
export async function* messagesOf(
  lines: AsyncIterable<string>,
  options: { dryRun: boolean; stopAtFirstRefusal: boolean; reportIds: boolean },
  misfitsOf: (line: JsonObject) => readonly FieldViolation[],
  onMisfit: (misfit: Misfit) => void,
): AsyncGenerator<JsonObject> {
  yield { options };
  let batch: JsonObject[] = [];
  let characters = 0;
  let number = 0;
  for await (const text of lines) {
    number += 1;
    if (text.trim() === '') {
      continue;
    }
    const record = jsonObjectIn(text);
    const violations = record ? misfitsOf(record) : [{ path: 'line', message: 'must be a JSON object' }];
    if (violations.length > 0) {
      onMisfit({ line: number, violations });
      if (options.stopAtFirstRefusal) {
        break;
      }
      continue;
    }
    batch.push({ ...record, line: number });
    characters += text.length;
    if (batch.length === LINES_IN_MESSAGE || characters > CHARACTERS_IN_MESSAGE) {
      yield { lines: { lines: batch } };
      batch = [];
      characters = 0;
    }
  }
  if (batch.length > 0) {
    yield { lines: { lines: batch } };
  }
}

/** Undefined for anything else. */
export function jsonObjectIn(text: string): JsonObject | undefined {
  try {
    const value: JsonValue = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
