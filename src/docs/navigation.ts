import { type Html, html } from '../edge/pages/html.js';
import { made } from './code.js';
import { slugOf } from './contract.js';
import type { Page } from './page.js';

/** The pages of an area, in order. */
export interface NavigationGroup {
  title: string;
  pages: readonly Page[];
}

/** All pages, with the present one marked. */
export function navigation(groups: readonly NavigationGroup[], present: string): Html {
  return html`${groups.map(({ title, pages }) => {
    const id = `nav-${slugOf(title)}`;
    return html`<p class="nav-title" id="${id}">${title}</p><ul aria-labelledby="${id}">${pages.map((page) => entry(page, page.path === present))}</ul>`;
  })}`;
}

function entry(page: Page, isPresent: boolean): Html {
  const { path, entries = [] } = page;
  const own = html`<ul>${entries.map(({ id, title }) => html`<li><a href="${path}#${id}">${title}</a></li>`)}</ul>`;
  return html`<li><a href="${path}"${isPresent && made(' aria-current="page"')}>${nameOf(page)}</a>${entries.length > 0 && own}</li>`;
}

/** The pages before and after one, within its group. */
export function neighbours(groups: readonly NavigationGroup[], present: string): Html | undefined {
  const pages = groups.find((group) => group.pages.some(({ path }) => path === present))?.pages ?? [];
  const at = pages.findIndex(({ path }) => path === present);
  const [before, after] = [pages[at - 1], pages[at + 1]];
  if (!before && !after) {
    return undefined;
  }
  return html`<nav class="neighbours" aria-label="Pages before and after">${
    before && html`<a class="before" href="${before.path}"><span>Before</span>${nameOf(before)}</a>`
  }${after && html`<a class="after" href="${after.path}"><span>Next</span>${nameOf(after)}</a>`}</nav>`;
}

/** The first page of a reference covers all of it. */
function nameOf({ path, title }: Page): string {
  return /^\/docs\/reference\/[^/]+$/.test(path) ? 'Overview' : title;
}
