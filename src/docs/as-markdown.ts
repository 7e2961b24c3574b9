import { exactTextOf, textOf } from './markdown.js';

/** What only a browser needs: parts of one environment, choices of tabs (panels have the names), pictures. */
const SKIPPED =
  /<!--(demo|live|live-with-demo)-->[\s\S]*?<!--\/\1-->|<(fieldset|form|svg|noscript)\b[\s\S]*?<\/\2>/g;
const TOKEN = /<(\/?)([a-z][a-z0-9]*)([^>]*)>|[^<]+/g;
const BLOCK = /^(?:p|div|dl|ul|ol|section|figure|details|table|h[1-4]|blockquote)$/;
const MARKS: Record<string, string> = { code: '`', strong: '**', b: '**', summary: '**', dt: '**', em: '*' };

/** The body of a page as Markdown, for programs and for copying. */
export function markdownOf(body: string): string {
  const writer = new Writer();
  for (const [whole, close, name, attributes = ''] of body.replace(SKIPPED, '').matchAll(TOKEN)) {
    if (name === undefined) {
      writer.text(whole);
    } else if (close === '/') {
      writer.close(name);
    } else {
      writer.open(name, attributes);
    }
  }
  return writer.done();
}

class Writer {
  readonly #lines: string[] = [];
  #line = '';
  /** Whether the line ends with an opening mark, which no space may follow. */
  #isMarking = false;
  /** The open lists: the number of the next item, if items have numbers, and the width of its mark. */
  readonly #lists: { next: number | undefined; width: number }[] = [];
  #cells = 0;
  /** Where the code within the line begins. */
  #spanAt = 0;
  #code: string | undefined;
  #language = '';
  /** Where the links lead that are open; undefined for those of headings to themselves. */
  readonly #links: (string | undefined)[] = [];

  text(markup: string): void {
    if (this.#code !== undefined) {
      this.#code += markup;
      return;
    }
    const words = textOf(markup);
    const isApart = !this.#isMarking && !/(?:^|[\s[])$/.test(this.#line);
    const before = /^\s/.test(markup) && isApart ? ' ' : '';
    this.#isMarking &&= words === '';
    this.#line += words === '' ? before : `${before}${words}${/\s$/.test(markup) ? ' ' : ''}`;
  }

  open(name: string, attributes: string): void {
    if (this.#code !== undefined) {
      return;
    }
    if (name === 'figure') {
      this.#language = /data-language="([^"]*)"/.exec(attributes)?.[1] ?? '';
    }
    if (name === 'pre') {
      this.#code = '';
    } else if (name === 'a') {
      this.#openLink(attributes);
    } else if (name === 'ul' || name === 'ol') {
      this.#begin();
      const start = Number(/start="(\d+)"/.exec(attributes)?.[1] ?? 1);
      this.#lists.push({ next: name === 'ol' ? start : undefined, width: 2 });
    } else if (name === 'li') {
      this.#begin(this.#itemMark(), this.#lists.length - 1);
    } else if (name === 'tr') {
      this.#begin('| ');
      this.#cells = 0;
    } else if (name === 'small') {
      // A browser puts it on a line of its own.
      this.#line = `${this.#line.trimEnd()}: `;
    } else {
      if (BLOCK.test(name) || name === 'summary' || name === 'dt') {
        this.#begin(/^h\d$/.test(name) ? `${'#'.repeat(Number(name[1]))} ` : '');
      }
      const [, label] = /data-label="([^"]*)"/.exec(attributes) ?? [];
      this.#line += label === undefined ? (MARKS[name] ?? '') : `${exactTextOf(label)}:`;
      this.#spanAt = this.#line.length;
      this.#isMarking = MARKS[name] !== undefined;
    }
  }

  close(name: string): void {
    this.#isMarking = false;
    if (name === 'pre') {
      this.#endCode();
    } else if (this.#code !== undefined) {
      return;
    } else if (name === 'a') {
      const href = this.#links.pop();
      this.#line += href === undefined ? '' : `](${href})`;
    } else if (name === 'ul' || name === 'ol') {
      this.#lists.pop();
      this.#begin();
      if (this.#lists.length === 0) {
        // Text directly below would belong to the last item.
        this.#part();
      }
    } else if (name === 'td' || name === 'th') {
      this.#cells += 1;
      this.#line += ' | ';
    } else if (name === 'thead') {
      this.#begin(`|${'---|'.repeat(this.#cells)}`);
    } else if (name === 'code') {
      this.#endSpan();
    } else {
      this.#line = `${MARKS[name] === undefined ? this.#line : this.#line.trimEnd()}${MARKS[name] ?? ''}`;
      this.#line += name === 'dt' ? ': ' : '';
      if (BLOCK.test(name) || name === 'summary') {
        this.#begin();
      }
    }
  }

  done(): string {
    this.#begin();
    return `${this.#lines.join('\n').trim()}\n`;
  }

  /** Begins a line; outside of lists and tables an empty one comes before it. */
  #begin(start = '', depth = this.#lists.length): void {
    const written = this.#line.trimEnd();
    if (!/^\s*(?:-|\d+\.|#+)?$/.test(written)) {
      this.#lines.push(written);
      if (this.#lists.length === 0 && !written.startsWith('|')) {
        this.#part();
      }
    } else if (written !== '' && start === '') {
      // The first block of an item stands beside its dash.
      return;
    }
    if (this.#lists.length === 0 && start === '' && this.#lines.at(-1)?.startsWith('|')) {
      this.#part();
    }
    this.#line = `${this.#indent(depth)}${start}`;
  }

  #itemMark(): string {
    const list = this.#lists.at(-1);
    if (list?.next === undefined) {
      return '- ';
    }
    const mark = `${list.next}. `;
    list.next += 1;
    list.width = mark.length;
    return mark;
  }

  /** What is in an item stands below its text. */
  #indent(depth = this.#lists.length): string {
    return ' '.repeat(this.#lists.slice(0, depth).reduce((sum, { width }) => sum + width, 0));
  }

  /** One empty line, never two. */
  #part(): void {
    if (this.#lines.length > 0 && this.#lines.at(-1) !== '') {
      this.#lines.push('');
    }
  }

  /** Code with a backtick is between two of them and spaces (CommonMark, 6.1). */
  #endSpan(): void {
    const code = this.#line.slice(this.#spanAt).trimEnd();
    const before = this.#line.slice(0, this.#spanAt);
    this.#line = code.includes('`') ? `${before}\` ${code} \`\`` : `${before}${code}\``;
  }

  #endCode(): void {
    const indent = this.#indent();
    const code = exactTextOf(this.#code ?? '').split('\n');
    this.#begin();
    this.#part();
    this.#lines.push(
      ...[`\`\`\`${this.#language}`, ...code, '```'].map((line) => (line === '' ? '' : `${indent}${line}`)),
    );
    this.#part();
    this.#line = indent;
    this.#code = undefined;
  }

  #openLink(attributes: string): void {
    const href = /href="([^"]*)"/.exec(attributes)?.[1];
    const isSelf = /class="self"/.test(attributes);
    const target = href === undefined || isSelf ? undefined : exactTextOf(href);
    this.#links.push(target?.startsWith('/') ? `{{gatewayUrl}}${target}` : target);
    this.#line += target === undefined ? '' : '[';
  }
}
