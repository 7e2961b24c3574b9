import { Marked, type Token, type Tokens } from 'marked';
import { Html } from '../edge/pages/html.js';
import { type Code, codeBlock, labelOf, made, Tabs } from './code.js';
import { slugOf } from './contract.js';
import { hidePlaces, showPlaces } from './places.js';

/** The targets of names in code spans and of links to guides. */
export interface Destinations {
  /** The page of a name in code spans, such as an operation or a schema. */
  ofName(name: string): string | undefined;
  /** The page of a guide. */
  ofGuide(slug: string): string | undefined;
}

/** Links cannot be nested. */
const LINK_TAG = /<\/?a\b[^>]*>/g;
const TAB_LABELS = new Set(['TypeScript', 'JavaScript', 'Python', 'Go', 'Shell', 'curl']);
const GUIDE_LINK = /^(?:\.?\/)?(?:guides\/|docs\/)?([a-z][a-z0-9-]*)(?:\.md)?(#[\w.-]*)?$/;

/** The prose of one page, with unique ids of headings and names of tabs. */
export class Prose {
  readonly tabs = new Tabs();
  readonly #ids = new Map<string, number>();
  readonly #destinations: Destinations;
  readonly #marked: Marked;

  constructor(destinations: Destinations) {
    this.#destinations = destinations;
    this.#marked = this.#configured();
  }

  /** A text with headings, code and tables. */
  block(markdown: string): Html {
    const tokens = this.#marked.lexer(hidePlaces(markdown));
    const grouped = Object.assign(this.#withTabs(tokens), { links: tokens.links });
    return made(showPlaces(this.#marked.parser(grouped)));
  }

  /** A sentence. */
  inline(markdown: string): Html {
    return made(showPlaces(this.#marked.parseInline(hidePlaces(markdown)) as string));
  }

  /** An id for a heading, unique in the page. */
  idOf(text: string): string {
    const slug = slugOf(text) || 'section';
    const before = this.#ids.get(slug) ?? 0;
    this.#ids.set(slug, before + 1);
    return before === 0 ? slug : `${slug}-${before + 1}`;
  }

  /** Adjacent code blocks are one program in several languages. */
  #withTabs(tokens: Token[]): Token[] {
    const result: Token[] = [];
    for (let at = 0; at < tokens.length; ) {
      const group = groupAt(tokens, at);
      if (group.codes.length > 1) {
        const text = this.tabs.of(group.codes).toString();
        result.push({ type: 'html', raw: text, text, block: true, pre: false } as Token);
        at = group.end;
      } else {
        result.push(tokens[at] as Token);
        at += 1;
      }
    }
    return result;
  }

  #configured(): Marked {
    const prose = this;
    return new Marked({
      gfm: true,
      renderer: {
        code: (token) => codeBlock(codeOf(token)).toString(),
        codespan: ({ text }) => prose.#word(text),
        heading({ tokens, depth }) {
          const content = this.parser.parseInline(tokens).replace(LINK_TAG, '');
          const id = prose.idOf(textOf(content));
          return `<h${depth} id="${id}"><a class="self" href="#${id}">${content}</a></h${depth}>\n`;
        },
        link({ href, tokens }) {
          const content = this.parser.parseInline(tokens).replace(LINK_TAG, '');
          return `<a href="${Html.escape(prose.hrefOf(href))}">${content}</a>`;
        },
        table({ header, rows }) {
          const cells = (row: Tokens.TableCell[], open: string, close: string) =>
            row.map(({ tokens }) => `${open}${this.parser.parseInline(tokens)}${close}`).join('');
          const head = cells(header, '<th scope="col">', '</th>');
          const body = rows.map((row) => `<tr>${cells(row, '<td>', '</td>')}</tr>`).join('');
          return `<div class="table"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
        },
      },
    });
  }

  #word(text: string): string {
    const destination = this.#destinations.ofName(text);
    const code = `<code>${Html.escape(text)}</code>`;
    return destination === undefined ? code : `<a href="${Html.escape(destination)}">${code}</a>`;
  }

  /** The address of a link, which may name a guide. */
  hrefOf(href: string): string {
    const [, slug, fragment = ''] = GUIDE_LINK.exec(href) ?? [];
    const page = slug === undefined ? undefined : this.#destinations.ofGuide(slug);
    return page === undefined ? href : `${page}${fragment}`;
  }
}

function groupAt(tokens: Token[], start: number): { codes: Code[]; end: number } {
  const codes: Code[] = [];
  let end = start;
  for (let at = start; at < tokens.length; at += 1) {
    const token = tokens[at] as Token;
    if (token.type === 'space') {
      continue;
    }
    const code = token.type === 'code' ? codeOf(token as Tokens.Code) : undefined;
    const fits =
      code && TAB_LABELS.has(labelOf(code)) && !codes.some((other) => labelOf(other) === labelOf(code));
    if (!fits) {
      break;
    }
    codes.push(code);
    end = at + 1;
  }
  return { codes, end };
}

/** A fence has the language; a whole program also has `file=`, and a tab of another name `label=`. */
function codeOf({ lang = '', text }: Pick<Tokens.Code, 'lang' | 'text'>): Code {
  const [language = 'text', ...rest] = lang.split(/\s+/);
  const value = (name: string) => rest.find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1);
  return { code: text, language: language || 'text', file: value('file'), label: value('label') };
}

/** The text of markup, with white space collapsed. */
export function textOf(markup: string): string {
  return exactTextOf(markup).replace(/\s+/g, ' ').trim();
}

/** The text of markup with its white space, for code. */
export function exactTextOf(markup: string): string {
  return markup
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&');
}
