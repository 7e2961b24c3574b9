import type { InputRefusal } from '../../../generated/proto/integration/sign_on/v1/browser.js';
import { type Html, html } from './html.js';
import { icons } from './icons.js';

interface TextField {
  /** Used as name and id. */
  name: string;
  label: string;
  type: 'text' | 'email' | 'password';
  autocomplete: 'username' | 'current-password' | 'new-password';
  inputMode?: 'email';
  value?: string;
  hint?: string;
  refusals?: readonly InputRefusal[];
  readOnly?: boolean;
  focused?: boolean;
  /** The id of what else describes the input. */
  describedBy?: string | undefined;
}

/**
 * A double click sends a form once: the answer to a second request would say that the form was sent before.
 * The buttons work again after ten seconds without an answer.
 */
export const SEND_ONCE = `for (const form of document.forms) {
  let sent = false;
  form.addEventListener('submit', (event) => {
    if (sent) event.preventDefault();
    sent = true;
    setTimeout(() => { sent = false; }, 10000);
  });
  addEventListener('pagehide', () => { sent = false; });
}`;

/**
 * Holds a decision or choice back until the page has been in front for a moment, and while a key is held:
 * the click or key could have been meant for what was there before, such as a window that another site closes
 * at a double click. Not `disabled`, which would take the buttons out of the tab order, and not
 * `aria-disabled`: a screen reader would not say that it has ended.
 */
export const SEEN_FIRST = `{
  const { form } = document.querySelector('[name=decision], [name=context]');
  let seen;
  const rest = () => {
    form.dataset.rests = '';
    clearTimeout(seen);
    seen = setTimeout(() => { delete form.dataset.rests; }, 600);
  };
  for (const name of ['focus', 'visibilitychange', 'pageshow', 'keydown']) {
    addEventListener(name, ({ type, persisted, repeat }) => {
      if (type === 'focus' || type === 'visibilitychange' || persisted || repeat) rest();
    });
  }
  form.addEventListener('click', (event) => {
    if (!('rests' in form.dataset)) return;
    event.preventDefault();
    rest();
  });
  rest();
}`;

/**
 * Lets the Show button show the password; without scripts the button stays hidden. Submitting or leaving the
 * page hides the password again, so that browsers neither save nor restore it as text.
 */
export const SHOW_PASSWORD = `for (const button of document.querySelectorAll('button[aria-controls]')) {
  const input = document.getElementById(button.getAttribute('aria-controls'));
  const show = (shown) => {
    input.type = shown ? 'text' : 'password';
    button.textContent = shown ? 'Hide' : 'Show';
    button.setAttribute('aria-label', button.textContent + ' password');
  };
  button.addEventListener('click', () => show(input.type === 'password'));
  input.form.addEventListener('submit', () => show(false));
  addEventListener('pagehide', () => show(false));
  show(false);
  button.hidden = false;
}`;

const showPassword = (name: string) =>
  html`<button id="show-${name}" type="button" class="show" aria-controls="${name}" hidden>Show</button>`;

/** An input with its label, errors and hint. */
export function textField(field: TextField): Html {
  const {
    name,
    label,
    type,
    inputMode,
    autocomplete,
    value = '',
    hint,
    refusals = [],
    readOnly,
    focused,
    describedBy,
  } = field;
  const own = refusals.filter(({ input }) => input === name);
  const described = [
    focused && describedBy,
    own.length > 0 && `${name}-error`,
    hint !== undefined && `${name}-hint`,
  ].filter(Boolean);
  return html`<div class="field">
<label for="${name}">${label}</label>
<div${type === 'password' && html` class="secret"`}><input id="${name}" name="${name}" type="${type}"${inputMode && html` inputmode="${inputMode}"`} value="${value}" autocomplete="${autocomplete}" autocapitalize="none" spellcheck="false"${
    described.length > 0 && html` aria-describedby="${described.join(' ')}"`
  }${own.length > 0 && html` aria-invalid="true"`}${readOnly ? html` readonly` : html` required`}${focused && html` autofocus`}>${type === 'password' && showPassword(name)}</div>
${own.length > 0 && html`<div id="${name}-error" role="alert">${own.map(({ message }) => errorLine(message))}</div>`}
${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
</div>`;
}

/** The first that a screen reader says of a page is its title. */
export function titleOf(heading: string, refusals: readonly InputRefusal[]): string {
  return refusals.length > 0 ? `Error: ${heading}` : heading;
}

/** Describes the focused input: most screen readers say nothing of an alert that comes with its page. */
export const FORM_ERROR = 'form-error';

/** The errors that belong to none of these inputs. */
export function formAlert(refusals: readonly InputRefusal[], inputs: readonly string[]): Html | undefined {
  const whole = refusals.filter(({ input }) => !inputs.includes(input));
  return whole.length > 0
    ? html`<div class="alert" id="${FORM_ERROR}" role="alert">${whole.map(({ message }) => errorLine(message))}</div>`
    : undefined;
}

/** The form does not need the query: with it, the address shows the form's page when it is opened again. */
export function addressOf(path: string, query: Record<string, string>): string {
  return `${path}?${new URLSearchParams(query)}`;
}

export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}

function errorLine(message: string): Html {
  return html`<p class="error">${icons.warning}<span>${message}</span></p>`;
}
