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

/** The pages before and after one, in the order of the navigation. */
export function neighbours(groups: readonly NavigationGroup[], present: string): Html | undefined {
  const pages = groups.flatMap((group) => group.pages.map((page) => ({ ...page, group: group.title })));
  const at = pages.findIndex(({ path }) => path === present);
  if (at < 0) {
    return undefined;
  }
  const [before, after] = [pages[at - 1], pages[at + 1]];
  /** Where another group begins, its name stands before that of the page. */
  const label = (page: (typeof pages)[number]) =>
    page.group === pages[at]?.group ? nameOf(page) : `${page.group}: ${nameOf(page)}`;
  return html`<nav class="neighbours" aria-label="Pages before and after">${
    before && html`<a class="before" href="${before.path}"><span>Previous</span>${label(before)}</a>`
  }${after && html`<a class="after" href="${after.path}"><span>Next</span>${label(after)}</a>`}</nav>`;
}

/** The first page of a reference covers all of it. */
function nameOf({ path, title }: Page): string {
  return /^\/docs\/reference\/[^/]+$/.test(path) ? 'Overview' : title;
}
