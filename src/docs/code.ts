import hljs from 'highlight.js/lib/common';
import { Html, html } from '../edge/pages/html.js';
import { hidePlaces, showPlaces } from './places.js';

export interface Code {
  code: string;
  /** As the fence of a guide names it. */
  language: string;
  /** What the program is called, where it is a whole one. */
  file?: string | undefined;
  /** On its tab, in place of the name of the language. */
  label?: string | undefined;
}

const NAMES: Record<string, string> = {
  ts: 'TypeScript',
  typescript: 'TypeScript',
  js: 'JavaScript',
  javascript: 'JavaScript',
  py: 'Python',
  python: 'Python',
  go: 'Go',
  sh: 'Shell',
  bash: 'Shell',
  json: 'JSON',
  yaml: 'YAML',
  http: 'HTTP',
  text: 'Text',
};

export function labelOf({ label, language }: Code): string {
  return label ?? NAMES[language] ?? language;
}

/** HTML that was made here, of parts that were escaped. */
export function made(text: string): Html {
  return Html.fromSource([text], []);
}

/** Code with its colours; its text is the code and nothing else. */
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

/** Makes tabs of which one is shown, by radio buttons, so that no script is needed. */
export class Tabs {
  #count = 0;

  of(codes: readonly Code[], legend = 'Language'): Html {
    if (codes.length === 1) {
      return html`${codes.map(codeBlock)}`;
    }
    this.#count += 1;
    const group = `tabs-${this.#count}`;
    const choices = codes.map(
      (code, index) =>
        html`<label><input type="radio" name="${group}" value="${labelOf(code)}"${index === 0 && made(' checked')}><span>${labelOf(code)}</span></label>`,
    );
    return html`<div class="tabs"><fieldset class="choices"><legend>${legend}</legend>${choices}</fieldset><div class="panels">${codes.map(
      (code) => html`<div class="panel">${codeBlock(code)}</div>`,
    )}</div></div>`;
  }
}
