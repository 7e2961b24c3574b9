const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escaped HTML. Only the tag below makes it, so that user input is always escaped. */
export class Html {
  private constructor(private readonly text: string) {}

  toString(): string {
    return this.text;
  }

  /** For HTML from the source code only, never for input. */
  static fromSource(strings: readonly string[], values: readonly Html[]): Html {
    return new Html(strings.reduce((text, part, index) => `${text}${values[index - 1]}${part}`));
  }

  static escape(value: string): Html {
    return new Html(value.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? ''));
  }
}

export type HtmlValue = Html | string | number | undefined | false | readonly HtmlValue[];

/** A piece of a page: html`<p>${text}</p>`. Escapes values other than Html; undefined and false are empty. */
export function html(strings: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return Html.fromSource(strings, values.map(toHtml));
}

function toHtml(value: HtmlValue): Html {
  if (value instanceof Html) {
    return value;
  }
  if (Array.isArray(value)) {
    const pieces = value.map(toHtml);
    return Html.fromSource(['', ...pieces.map(() => '')], pieces);
  }
  return Html.escape(value === undefined || value === false ? '' : String(value));
}

/** For links and pictures; never a script. The domain has checked the address, and this checks again. */
export function webAddress(address: string | undefined): string | undefined {
  return address !== undefined && /^https?:\/\//.test(address) ? address : undefined;
}
