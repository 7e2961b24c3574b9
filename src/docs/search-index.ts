import { made } from './code.js';
import { textOf } from './markdown.js';
import { type Page, sectionsOf } from './page.js';

/** For operations and events, which are long and alike. */
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
  /** The names of its fields, where the text does not have all. */
  f?: string;
}

/** Not searched: names of tabs, headings of tables, forms, code blocks, and parts of one environment. */
const SKIPPED =
  /<(fieldset|thead|form|pre)\b[\s\S]*?<\/\1>|<!--(demo|live|live-with-demo)-->[\s\S]*?<!--\/\2-->/g;

export function searchIndex(pages: readonly Page[]): SearchEntry[] {
  return pages.flatMap((page) =>
    sectionsOf({ ...page, body: made(page.body.toString().replace(SKIPPED, '')) }).map(
      ({ id, title, markup }) => ({
        u: id === '' ? page.path : `${page.path}#${id}`,
        t: title,
        p: page.title === page.area ? page.area : `${page.area} · ${page.title}`,
        ...(page.entries
          ? { x: wholeWords(searched(markup)), f: fieldsIn(markup) }
          : { x: searched(markup) }),
      }),
    ),
  );
}

/** The names of parameters, headers and members. */
function fieldsIn(markup: string): string {
  const names = [...markup.matchAll(/<code class="name">([^<]+)</g)].map(([, name]) => name);
  return [...new Set(names)].join(' ');
}

function wholeWords(text: string): string {
  return text.length > MAX_TEXT_LENGTH ? text.slice(0, text.lastIndexOf(' ', MAX_TEXT_LENGTH)) : text;
}

/** Separates words of neighbouring elements. */
function searched(markup: string): string {
  return textOf(markup.replace(/<\/(?:p|li|td|th|h\d|div|dt|dd|summary|span|button|label)>|<small>/g, '$& '));
}
