import { html } from '../edge/pages/html.js';
import { heading, made } from './code.js';
import { GUIDES_AREA } from './guide-pages.js';
import type { Page } from './page.js';

/** What `make bench` publishes: processor seconds and megabytes for a million of each. */
export interface Costs {
  measuredOn: string;
  machine: string;
  /** Memory of a thousand idle connections. */
  idleConnectionsMegabytes: number;
  costs: {
    what: string;
    /** What takes most of it. */
    limit: string;
    edge: number;
    domain: number;
    worker: number;
    written: number;
  }[];
}

const HEADINGS = ['For a million of', 'Edge', 'Domain', 'Worker', 'All', 'Written'];

/** What the service takes for its work, for those who choose its machine. */
export function costsPage({ measuredOn, machine, idleConnectionsMegabytes, costs }: Costs): Page {
  const summary = 'What the service takes of a machine for its work, as its own benchmark measured it.';
  const rows = costs.map(({ what, limit, edge, domain, worker, written }) => {
    const all = edge + domain + worker;
    return html`<tr><th scope="row">${what}<small>${limit}</small></th>${[edge, domain, worker, all].map(
      (seconds) => html`<td class="number">${twoDigits(seconds)} s</td>`,
    )}<td class="number">${megabytes(written)}</td></tr>`;
  });
  const body = html`<h1>Costs</h1><p class="lead">${summary}</p>
<p>Processor time and bytes written to disk for a million of each, and what takes most of it. A core has 86,400 seconds a day.</p>
<div class="table"><table><thead><tr>${HEADINGS.map((name, column) => html`<th scope="col"${column > 0 && made(' class="number"')}>${name}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>
<p>A thousand idle connections to the gateway hold ${megabytes(idleConnectionsMegabytes)} of memory.</p>
${heading('how-it-was-measured', 'How it was measured')}
<p>On ${measuredOn}, ${machine}; the load ran on the same machine. All roles ran with default settings on SQLite, every request was logged, and only the rate limit was lifted. Processor time is that of the processes of the service, their share of the kernel included. The figures are medians of several rounds after a warm-up, with 32 requests at any time (16 sign-ins, 16 writes). With less load at once they are higher, because fewer writes share a commit.</p>
<p>Another machine has other figures, in much the same proportions: <code>make bench</code> measures them, beside what a plain program takes for the same work.</p>`;
  return { path: '/docs/costs', title: 'Costs', summary, area: GUIDES_AREA, body };
}

function megabytes(value: number): string {
  return value >= 1_000 ? `${twoDigits(value / 1_000)} GB` : `${twoDigits(value)} MB`;
}

/** The third digit differs between rounds of the measurement. */
function twoDigits(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 2 });
}
