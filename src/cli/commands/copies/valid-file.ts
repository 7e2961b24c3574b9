import type { Origin } from '../../../store/copies/copy-facts.js';
import { countsOf, itemsOf, ListedItems, type ValidList } from '../../../store/copies/valid-list.js';
import type { FileLine } from '../file-lines.js';
import { jsonIn } from '../json.js';
import { hasTime, incomplete, parsed } from './manifest.js';

const VALID_FORMAT = 'integration-valid/3';

interface Head extends Origin {
  readAt: string;
}

/** A list of what was valid at `readAt`, for `restore --revocations`. */
export interface ValidFile extends Head {
  valid: ValidList;
}

/**
 * The lines of the file: the origin of the list, its items, and their number by part. In a database with
 * millions of people, one text of them all would exceed the limit of a string.
 */
export function* validFileLines({ valid, ...head }: ValidFile): Generator<string> {
  const { environment, environmentMadeAt, readAt, changedAt } = head;
  yield asLine({ format: VALID_FORMAT, environment, environmentMadeAt, readAt, changedAt });
  for (const item of itemsOf(valid)) {
    yield asLine(item);
  }
  yield asLine({ items: countsOf(valid) });
}

function asLine(content: object): string {
  return `${JSON.stringify(content)}\n`;
}

/** Throws an Error whose message continues the sentence "The file … ". */
export async function parseValidFile(lines: AsyncIterable<FileLine>): Promise<ValidFile> {
  const items = new ListedItems();
  let head: Head | undefined;
  let valid: ValidList | undefined;
  let number = 0;
  for await (const { text } of lines) {
    number += 1;
    if (text === undefined || (valid !== undefined && text !== '')) {
      throw faultIn(number);
    }
    if (head === undefined) {
      head = headIn(text);
    } else if (valid === undefined && !items.add(itemIn(text))) {
      valid = items.list();
      // A truncated list must not pass as complete: a restore would end every item that it lacks.
      if (text !== JSON.stringify({ items: countsOf(valid) })) {
        throw faultIn(number);
      }
    }
  }
  if (head === undefined || valid === undefined) {
    throw faultIn(number + 1);
  }
  return { ...head, valid };
}

function faultIn(line: number): Error {
  return incomplete(`line ${line}`, 'revocations');
}

function headIn(line: string): Head {
  const head = parsed<Head>(line, VALID_FORMAT);
  if (!isIso(head.readAt)) {
    throw incomplete('readAt', 'revocations');
  }
  if (!hasTime(head)) {
    throw incomplete('changedAt', 'revocations');
  }
  return head;
}

function itemIn(line: string): unknown[] {
  const item = jsonIn(line);
  return Array.isArray(item) ? item : [];
}

function isIso(time: string): boolean {
  const parsed = Date.parse(time);
  return !Number.isNaN(parsed) && new Date(parsed).toISOString() === time;
}
