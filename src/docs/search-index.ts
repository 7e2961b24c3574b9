import { made } from './code.js';
import { type Page, sectionsOf } from './page.js';

/** For operations and events: the schemas have their members too. */
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

/** Not searched: names of tabs, headings of tables, forms, code blocks, and parts of one environment. */
const SKIPPED =
  /<(fieldset|thead|form|pre)\b[\s\S]*?<\/\1>|<!--(demo|live|live-with-demo)-->[\s\S]*?<!--\/\2-->/g;

export function searchIndex(pages: readonly Page[]): SearchEntry[] {
  return pages.flatMap((page) =>
    sectionsOf({ ...page, body: made(page.body.toString().replace(SKIPPED, '')) }).map(
      ({ id, title, text }) => ({
        u: id === '' ? page.path : `${page.path}#${id}`,
        t: title,
        p: page.title === page.area ? page.area : `${page.area} · ${page.title}`,
        x: page.entries ? wholeWords(text) : text,
      }),
    ),
  );
}

function wholeWords(text: string): string {
  return text.length > MAX_TEXT_LENGTH ? text.slice(0, text.lastIndexOf(' ', MAX_TEXT_LENGTH)) : text;
}
