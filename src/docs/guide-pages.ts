import { html } from '../edge/pages/html.js';
import { type Destinations, Prose } from './markdown.js';
import type { Page } from './page.js';

/** A guide as written. */
export interface Guide {
  slug: string;
  title: string;
  summary: string;
  /** Its place among the guides. */
  order: number;
  markdown: string;
}

const LINK = /\]\(([^()\s]+)\)/g;

export const GUIDES_AREA = 'Guides';

export const guidePath = (slug: string) => `/docs/${slug}`;

export function guidePages(
  guides: readonly Guide[],
  destinations: Destinations,
  area = GUIDES_AREA,
  pathOf = guidePath,
): Page[] {
  return guides.map(({ slug, title, summary, markdown }) => {
    const prose = new Prose(destinations);
    const text = withoutTitle(markdown);
    return {
      path: pathOf(slug),
      title,
      summary,
      area,
      body: html`<h1>${title}</h1><p class="lead">${summary}</p><div class="prose">${prose.block(text)}</div>`,
      sectionDepth: 3,
      markdown: `# ${title}\n\n${summary}\n\n${withFullLinks(text, prose)}`,
    };
  });
}

/** Links with addresses of the service, for text that is copied; those to guides lead to their Markdown. */
function withFullLinks(markdown: string, prose: Prose): string {
  return markdown.replace(LINK, (_, href: string) => {
    const target = prose.hrefOf(href);
    const address = target === href ? href : target.replace(/(?=#|$)/, '.md');
    return `](${address.startsWith('/') ? '{{gatewayUrl}}' : ''}${address})`;
  });
}

/** The front matter has the title; a guide may repeat it for readers of the file. */
function withoutTitle(markdown: string): string {
  return markdown.replace(/^\s*# .*\n+/, '');
}
