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
  /** What stands below its heading. */
  markup: string;
}

const HEADING = /<h([23])(?: class="[^"]*")? id="([^"]+)">([\s\S]*?)<\/h\1>/g;

/** The sections of a page; the first one, without id, is what precedes them. */
export function sectionsOf({ body, title, sectionDepth = 2 }: Page): Section[] {
  const markup = body.toString();
  const headings = [...markup.matchAll(HEADING)].filter(([, level]) => Number(level) <= sectionDepth);
  const ends = [...headings.map(({ index }) => index), markup.length];
  const first = { id: '', level: 1, title, markup: markup.slice(0, ends[0]) };
  const others = headings.map(([whole, level, id = '', content = ''], at) => ({
    id,
    level: Number(level),
    title: textOf(content),
    markup: markup.slice((ends[at] ?? 0) + whole.length, ends[at + 1]),
  }));
  return [first, ...others];
}
