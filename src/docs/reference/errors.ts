import { STATUS_CODES } from 'node:http';
import { type Html, html } from '../../edge/pages/html.js';
import { codeBlock, heading } from '../code.js';
import type { Contract, Schema } from '../contract.js';
import { type Destinations, Prose } from '../markdown.js';
import type { Page } from '../page.js';
import { withPlaces } from '../places.js';
import type { Api } from './api.js';

/** One row of a table of codes: what the code says, where. */
interface Meaning {
  code: string;
  /** The schema whose table has it. */
  schema: string;
  /** Its HTTP statuses; none for what comes to the redirect URI. */
  statuses: string[];
  text: string;
}

const CODES = /Code$/;
const ROW = /^\| `(\w+)` \|(?: (\d{3}(?:, \d{3})*) \|)? (.+) \|$/gm;
const SUMMARIES = {
  gateway: 'Every code of an error, by status, with the answer that carries it.',
  'sign-on': 'Every code of an error, and what it means where.',
} as const;

/** The address that a problem document has as its `type`. */
const errorsPath = ({ name, path }: Api) => (name === 'gateway' ? '/docs/errors' : `${path}/errors`);

/** The section of each code. */
export function errorDestinations(api: Api): [name: string, path: string][] {
  return meaningsOf(api.contract).map(({ code }) => [code, `${errorsPath(api)}#${code}`]);
}

export function errorsPage(api: Api, destinations: Destinations): Page {
  const prose = new Prose(destinations);
  const meanings = meaningsOf(api.contract);
  const summary = SUMMARIES[api.name];
  const sections = api.name === 'gateway' ? byStatus(api, prose, meanings) : byCode(api, prose, meanings);
  const body = html`<p class="area">${api.title}</p><h1>Error codes</h1><p class="lead">${summary}</p>${sections}`;
  return {
    path: errorsPath(api),
    title: 'Error codes',
    summary,
    area: api.title,
    body,
    sectionDepth: api.name === 'gateway' ? 3 : 2,
  };
}

function meaningsOf(contract: Contract): Meaning[] {
  return Object.entries(contract.schemas())
    .filter(([name, { enum: codes }]) => CODES.test(name) && codes !== undefined)
    .flatMap(([schema, { description = '' }]: [string, Schema]) =>
      [...description.matchAll(ROW)].map(([, code = '', statuses, text = '']) => ({
        code,
        schema,
        statuses: statuses?.split(', ') ?? [],
        text,
      })),
    );
}

/** One code stands for one problem of the gateway, so that a status has several codes. */
function byStatus(api: Api, prose: Prose, meanings: readonly Meaning[]): Html {
  const statuses = [...new Set(meanings.flatMap(({ statuses: [status = ''] }) => status))];
  return html`${statuses.map((status) => {
    const codes = meanings.filter(({ statuses: [first] }) => first === status);
    return html`${heading(status, `${status} ${STATUS_CODES[status]}`)}${codes.map(
      ({ code, text }) =>
        html`${heading(code, html`<code>${code}</code>`, 3)}<div class="prose">${prose.block(withPlaces(text))}</div>${examplesOf(api, code)}`,
    )}`;
  })}`;
}

/** The endpoints of sign-on share codes (RFC 6749). */
function byCode(api: Api, prose: Prose, meanings: readonly Meaning[]): Html {
  const codes = [...new Set(meanings.map(({ code }) => code))];
  return html`${codes.map((code) => {
    const rows = meanings.filter((meaning) => meaning.code === code);
    return html`${heading(code, html`<code>${code}</code>`)}<dl class="terms">${rows.map(
      ({ schema, statuses, text }) =>
        html`<div><dt><a href="${api.path}/schemas#${schema}"><code>${schema}</code></a>${statuses.length > 0 && html` ${statuses.join(', ')}`}</dt><dd>${prose.inline(withPlaces(text))}</dd></div>`,
    )}</dl>`;
  })}`;
}

/** The first documented answer with the code. */
function examplesOf({ contract }: Api, code: string): Html {
  const values = Object.values(contract.document.components.responses ?? {})
    .flatMap(({ content = {} }) => Object.values(content))
    .flatMap(({ examples = {} }) =>
      Object.values(examples).map((example) => contract.resolve(example).value),
    );
  const [first] = values.filter((value) => (value as { code?: unknown } | undefined)?.code === code);
  return first === undefined ? html`` : codeBlock({ code: JSON.stringify(first, null, 2), language: 'json' });
}
