import type { SiteFile } from '../../src/edge/docs/site-file.js';

/** A page as its reader's browser would take it apart. */
export interface Markup {
  path: string;
  ids: string[];
  links: string[];
  headings: { level: number; text: string }[];
  text: string;
}

export function pagesOf(site: readonly SiteFile[]): Markup[] {
  return site.filter(({ type }) => type.startsWith('text/html')).map(markupOf);
}

function markupOf({ path, body }: SiteFile): Markup {
  const values = (attribute: string) =>
    [...body.matchAll(new RegExp(`\\s${attribute}="([^"]*)"`, 'g'))].map(([, value = '']) =>
      value.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'"),
    );
  const headings = [...body.matchAll(/<h([1-6])[\s>][\s\S]*?<\/h\1>/g)].map(([whole, level]) => ({
    level: Number(level),
    text: whole.replace(/<[^>]*>/g, ''),
  }));
  return { path, ids: values('id'), links: values('href'), headings, text: body };
}
