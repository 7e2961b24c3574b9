import type { Html } from '../edge/pages/html.js';
import { textOf } from './markdown.js';

/** A page without its frame. */
export interface Page {
  path: string;
  title: string;
  /** A sentence about it, for lists and search engines. */
  summary: string;
  /** Its area, for navigation and search. */
  area: string;
  /** Starts with the `h1`. */
  body: Html;
  /** The depth of the list of sections, 2 unless given. */
  sectionDepth?: 2 | 3;
  /** The operations or events that it describes, for navigation. */
  entries?: readonly { id: string; title: string }[];
  /** The page as Markdown, if it was written as Markdown. */
  markdown?: string;
  /** Shown without its list of sections, as the start page is. */
  isWide?: boolean;
}

interface Section {
  id: string;
  level: number;
  title: string;
  /** Its text, without markup. */
  text: string;
}

const HEADING = /<h([23])(?: class="[^"]*")? id="([^"]+)">([\s\S]*?)<\/h\1>/g;

/** The sections of a page; the first one, without id, is what precedes them. */
export function sectionsOf({ body, title, sectionDepth = 2 }: Page): Section[] {
  const markup = body.toString();
  const headings = [...markup.matchAll(HEADING)].filter(([, level]) => Number(level) <= sectionDepth);
  const ends = [...headings.map(({ index }) => index), markup.length];
  const first = { id: '', level: 1, title, text: textOf(spaced(markup.slice(0, ends[0]))) };
  const others = headings.map(([whole, level, id = '', content = ''], at) => ({
    id,
    level: Number(level),
    title: textOf(content),
    text: textOf(spaced(markup.slice((ends[at] ?? 0) + whole.length, ends[at + 1]))),
  }));
  return [first, ...others];
}

/** Separates words of neighbouring elements. */
function spaced(markup: string): string {
  return markup.replace(/<\/(?:p|li|td|th|h\d|div|dt|dd|summary|span|button|label)>|<small>/g, '$& ');
}
