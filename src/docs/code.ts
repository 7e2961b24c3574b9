import hljs from 'highlight.js/lib/common';
import { Html, type HtmlValue, html } from '../edge/pages/html.js';
import { hidePlaces, showPlaces } from './places.js';

export interface Code {
  code: string;
  /** As in the fence of a guide. */
  language: string;
  /** The file name of a whole program. */
  file?: string | undefined;
  /** Replaces the language on its tab. */
  label?: string | undefined;
}

/** Of languages that the highlighter does not know, or has under another name. */
const NAMES: Record<string, string> = { sh: 'Shell', bash: 'Shell', text: 'Text', http: 'HTTP' };

export function labelOf({ label, language }: Code): string {
  return label ?? NAMES[language] ?? hljs.getLanguage(language)?.name ?? language;
}

/** HTML built here from escaped parts. */
export function made(text: string): Html {
  return Html.fromSource([text], []);
}

/** A heading that leads to itself: `sectionsOf` finds those of a page. */
export function heading(id: string, content: HtmlValue, level: 2 | 3 = 2): Html {
  return html`<h${level} id="${id}"><a class="self" href="#${id}">${content}</a></h${level}>`;
}

/** A table, which scrolls sideways where the page is too narrow. */
export function table(headings: readonly string[], rows: readonly Html[]): Html {
  return html`<div class="table"><table><thead><tr>${headings.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

/** A part that the edge leaves out where it does not belong. */
export function only(where: 'demo' | 'live' | 'live-with-demo', content: HtmlValue): Html {
  return html`${made(`<!--${where}-->`)}${content}${made(`<!--/${where}-->`)}`;
}

/** Highlighted code; its text is only the code. */
export function codeBlock(code: Code): Html {
  const { code: text, language, file } = code;
  return html`<figure class="code" data-language="${language}"${file !== undefined && made(` data-file="${Html.escape(file)}"`)}>${
    file !== undefined && html`<figcaption>${file}</figcaption>`
  }<pre><code>${highlighted(text, language)}</code></pre></figure>`;
}

function highlighted(text: string, language: string): Html {
  const known = hljs.getLanguage(language) !== undefined;
  const whole = hidePlaces(text);
  const shown = known ? hljs.highlight(whole, { language, ignoreIllegals: true }).value : Html.escape(whole);
  return made(showPlaces(shown.toString()));
}

/** The choice that the script remembers for all pages. */
const LANGUAGES = 'Language';

/** Makes tabs with radio buttons, without a script. */
export class Tabs {
  #count = 0;

  of(codes: readonly Code[], legend = LANGUAGES): Html {
    if (codes.length === 1) {
      return html`${codes.map(codeBlock)}`;
    }
    this.#count += 1;
    const group = `tabs-${this.#count}`;
    const choices = codes.map(
      (code, index) =>
        html`<label><input type="radio" name="${group}" value="${labelOf(code)}"${index === 0 && made(' checked')}><span>${labelOf(code)}</span></label>`,
    );
    return html`<div class="tabs"><fieldset class="choices${legend === LANGUAGES && ' languages'}"><legend class="unseen">${legend}</legend>${choices}</fieldset><div class="panels">${codes.map(
      (code) =>
        html`<div class="panel"${legend !== LANGUAGES && made(` data-label="${Html.escape(labelOf(code))}"`)}>${codeBlock(code)}</div>`,
    )}</div></div>`;
  }
}
