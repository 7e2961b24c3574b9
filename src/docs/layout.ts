import { type Html, html } from '../edge/pages/html.js';
import { FAVICON, icons } from '../edge/pages/icons.js';
import { made, only } from './code.js';
import { slugOf } from './contract.js';
import { type Page, sectionsOf } from './page.js';

/** The pages of an area, in order. */
export interface NavigationGroup {
  title: string;
  pages: readonly Page[];
}

export interface Frame {
  groups: readonly NavigationGroup[];
  /** Versioned addresses of style and script, against stale caches. */
  style: string;
  script: string;
  themeScript: string;
  version: string;
}

const WAYS: [href: string, name: string][] = [
  ['/docs/start', 'Guides'],
  ['/docs/reference/gateway', 'Gateway'],
  ['/docs/reference/sign-on', 'Sign-on'],
  ['/docs/reference/webhooks', 'Webhooks'],
  ['/docs/downloads', 'Downloads'],
];

export function layout(page: Page, frame: Frame): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${page.summary}">
<title>${page.title}${page.area !== page.title && ` · ${page.area}`} · Integration docs</title>
<link rel="icon" href="${FAVICON}">
<link rel="stylesheet" href="${frame.style}">
<script src="${frame.themeScript}"></script>
<script type="module" src="${frame.script}"></script>
</head>
<body${kindOf(page)}>
<a class="skip" href="#content">Skip to the content</a>
${header(page, frame)}
<div class="shell">
<nav class="side" id="navigation" aria-label="All pages"><a class="close" href="#content">Close the menu</a>${navigation(frame.groups, page.path)}</nav>
<div class="middle">
<main id="content">
${isListed(page, frame) && html`<p class="page-text"><a href="${page.path}.md">View as Markdown</a> <button type="button" hidden>Copy as Markdown</button></p>`}
${page.body}
</main>
${neighbours(frame.groups, page.path)}
${footer(frame)}
</div>
${contents(page)}
</div>
<p class="unseen" role="status" id="copy-status"></p>
</body>
</html>
`;
}

function kindOf({ isWide = false, entries = [] }: Page): Html | false {
  return isWide ? made(' class="wide"') : entries.length > 0 && made(' class="beside"');
}

function header(page: Page, frame: Frame): Html {
  const present = (href: string) => isWithin(page, href, frame) && made(' aria-current="true"');
  return html`<header class="top">
<a class="brand" href="/docs">${icons.mark}<span>Integration docs</span></a>
${only('demo', html`<span class="pill">Demo</span>`)}
<nav class="ways" aria-label="Parts">${WAYS.map(([href, name]) => html`<a href="${href}"${present(href)}>${name}</a>`)}</nav>
<div class="search" hidden>
<label class="unseen" for="search">Search the documentation</label>
<input id="search" type="search" role="combobox" aria-expanded="false" aria-controls="search-results" aria-autocomplete="list" autocomplete="off" spellcheck="false" placeholder="Search">
<kbd aria-hidden="true">Ctrl K</kbd>
<ul id="search-results" class="results" role="listbox" aria-label="Found" tabindex="-1" hidden></ul>
<p class="unseen" role="status" id="search-status"></p>
</div>
<button type="button" class="theme" aria-label="Dark colours" hidden>${icons.theme}</button>
<a class="menu" href="#navigation">Menu</a>
</header>`;
}

function isWithin({ path }: Page, href: string, { groups }: Frame): boolean {
  const group = groups.find(({ pages }) => pages.some((page) => page.path === href));
  return group?.pages.some((page) => page.path === path) ?? false;
}

function isListed({ path }: Page, { groups }: Frame): boolean {
  return groups.some(({ pages }) => pages.some((page) => page.path === path));
}

function contents(page: Page): Html {
  const sections = sectionsOf(page).filter(({ id }) => id !== '');
  return sections.length < 2 || page.isWide === true
    ? html``
    : html`<nav class="toc" aria-label="On this page"><p class="nav-title">On this page</p><ul>${sections.map(
        ({ id, level, title }) =>
          html`<li class="level-${level}"><a href="#${id}">${breakable(title)}</a></li>`,
      )}</ul></nav>`;
}

const PARTS_OF_NAMES = /(?<=[_.])|(?<=[a-z\d])(?=[A-Z])/;

/** A long name of a contract may continue on the next line after each of its words. */
function breakable(title: string): Html {
  const parts = title.includes(' ') ? [title] : title.split(PARTS_OF_NAMES);
  return html`${parts.map((part, index) => html`${index > 0 && made('<wbr>')}${part}`)}`;
}

function footer({ version }: Frame): Html {
  return html`<footer><p>${only('demo', 'Demo environment · ')}Integration service ${version} · <a href="/docs/changelog">Changelog</a> · <a href="/docs/downloads">Contracts and SDKs</a> · <a href="/llms.txt">llms.txt</a></p></footer>`;
}

/** All pages, with the present one marked. */
function navigation(groups: readonly NavigationGroup[], present: string): Html {
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
function neighbours(groups: readonly NavigationGroup[], present: string): Html | undefined {
  const pages = groups.flatMap((group) => group.pages.map((page) => ({ ...page, group: group.title })));
  const at = pages.findIndex(({ path }) => path === present);
  if (at < 0) {
    return undefined;
  }
  const [before, after] = [pages[at - 1], pages[at + 1]];
  /** The name of a page in another group begins with the name of that group. */
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
