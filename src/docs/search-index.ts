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

export function searchIndex(pages: readonly Page[]): SearchEntry[] {
  return pages.flatMap((page) =>
    sectionsOf(page).map(({ id, title, text }) => ({
      u: id === '' ? page.path : `${page.path}#${id}`,
      t: title,
      p: page.title === page.area ? page.area : `${page.area} · ${page.title}`,
      x: text.slice(0, MAX_TEXT_LENGTH),
    })),
  );
}
