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

/** The examples of operations and events repeat the names of the fields, which are more worth the room. */
function searched(page: Page): Page {
  const isReference = (page.entries ?? []).length > 0;
  return isReference
    ? { ...page, body: made(page.body.toString().replace(/<pre>[\s\S]*?<\/pre>/g, '')) }
    : page;
}

export function searchIndex(pages: readonly Page[]): SearchEntry[] {
  return pages.flatMap((page) =>
    sectionsOf(searched(page)).map(({ id, title, text }) => ({
      u: id === '' ? page.path : `${page.path}#${id}`,
      t: title,
      p: page.title === page.area ? page.area : `${page.area} · ${page.title}`,
      x: text.slice(0, MAX_TEXT_LENGTH),
    })),
  );
}
