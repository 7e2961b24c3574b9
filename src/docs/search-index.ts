import { made } from './code.js';
import { type Page, sectionsOf } from './page.js';

/** Longer texts add nothing to the search. */
const MAX_TEXT_LENGTH = 1_500;

/** A section of a page in the index. Short names, because browsers load all of it. */
export interface SearchEntry {
  /** Its address. */
  u: string;
  /** Its heading. */
  t: string;
  /** Its page and area. */
  p: string;
  /** Its text. */
  x: string;
}

/** Text without meaning of its own: names of tabs, headings of tables, labels of forms. */
const LABELS = /<(fieldset|thead|form)\b[\s\S]*?<\/\1>/g;
/** Examples of operations and events repeat the names of the fields, which serve the search better. */
const EXAMPLES = /<pre>[\s\S]*?<\/pre>/g;

function searched(page: Page): Page {
  const text = page.body.toString().replace(LABELS, '');
  const isReference = (page.entries ?? []).length > 0;
  return { ...page, body: made(isReference ? text.replace(EXAMPLES, '') : text) };
}

export function searchIndex(pages: readonly Page[]): SearchEntry[] {
  return pages.flatMap((page) =>
    sectionsOf(searched(page)).map(({ id, title, text }) => ({
      u: id === '' ? page.path : `${page.path}#${id}`,
      t: title,
      p: page.title === page.area ? page.area : `${page.area} · ${page.title}`,
      x: wholeWords(text),
    })),
  );
}

function wholeWords(text: string): string {
  return text.length > MAX_TEXT_LENGTH ? text.slice(0, text.lastIndexOf(' ', MAX_TEXT_LENGTH)) : text;
}
