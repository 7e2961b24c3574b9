const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text that is HTML already. Only the tag below makes one, so that nothing a person wrote gets into a page unescaped. */
export class Html {
  private constructor(private readonly text: string) {}

  toString(): string {
    return this.text;
  }

  /** For text that is written here, in the source; never for one that came from elsewhere. */
  static fromSource(strings: readonly string[], values: readonly Html[]): Html {
    return new Html(strings.reduce((text, part, index) => `${text}${values[index - 1]}${part}`));
  }

  static escape(value: string): Html {
    return new Html(value.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? ''));
  }
}

export type HtmlValue = Html | string | number | undefined | false | readonly HtmlValue[];

/**
 * A piece of a page: html`<p>${text}</p>`. What is put in is escaped unless it is Html, for elements and quoted attributes alike; nothing is left
 * for undefined and false.
 */
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
