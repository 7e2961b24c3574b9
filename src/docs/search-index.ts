import { type Page, sectionsOf } from './page.js';

/** Longer texts say it again. */
const MAX_TEXT_LENGTH = 1_500;

/** One thing that can be found: a section of a page. Short names, because browsers load all of it. */
export interface SearchEntry {
  /** Where it is. */
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
