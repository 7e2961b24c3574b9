import type { Origin } from '../../../store/copies/copy-facts.js';
import { itemsOf, ListedItems, type ValidList } from '../../../store/copies/valid-list.js';
import type { FileLine } from '../file-lines.js';
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
 * The lines of the file: the origin of the list, its items, and their number. All of them in one text would
 * be longer than a string may be where a database has millions of people.
 */
export function* validFileLines({ valid, ...head }: ValidFile): Generator<string> {
  const { environment, environmentMadeAt, readAt, changedAt } = head;
  yield asLine({ format: VALID_FORMAT, environment, environmentMadeAt, readAt, changedAt });
  let items = 0;
  for (const item of itemsOf(valid)) {
    yield asLine(item);
    items += 1;
  }
  yield asLine({ items });
}

function asLine(content: object): string {
  return `${JSON.stringify(content)}\n`;
}

/** Throws an Error whose message continues the sentence "The file … ". */
export async function parseValidFile(lines: AsyncIterable<FileLine>): Promise<ValidFile> {
  const valid = new ListedItems();
  let head: Head | undefined;
  let items = 0;
  let end: string | undefined;
  for await (const { text = '' } of lines) {
    if (head === undefined) {
      head = headIn(text);
    } else if (end === undefined && valid.add(itemIn(text))) {
      items += 1;
    } else if (end === undefined) {
      end = text;
    } else if (text !== '') {
      throw incomplete(`line ${items + 2}`, 'revocations');
    }
  }
  // Reading a list without its end as complete would end every item that it lacks.
  if (head === undefined || end !== JSON.stringify({ items })) {
    throw incomplete(`line ${items + 2}`, 'revocations');
  }
  return { ...head, valid: valid.list() };
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
  try {
    const item = JSON.parse(line);
    return Array.isArray(item) ? item : [];
  } catch {
    return [];
  }
}

function isIso(time: string): boolean {
  const parsed = Date.parse(time);
  return !Number.isNaN(parsed) && new Date(parsed).toISOString() === time;
}
