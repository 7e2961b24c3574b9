import { type Html, html } from '../../edge/pages/html.js';
import { describeMetrics, type MetricDescription } from '../../telemetry/metric-list.js';
import { heading } from '../code.js';
import type { Page } from '../page.js';

export const OPERATE_AREA = 'Operate';
export const METRICS_SLUG = 'metrics';

export const operatePath = (slug: string) => `/docs/operate/${slug}`;

const HEADINGS = ['Metric', 'Type', 'Labels', 'Roles'];

/** Every metric with its help text, read from the code that registers it. */
export function metricsPage(): Page {
  const all = describeMetrics();
  const summary = 'Every metric of the service, with the help text that a scrape returns.';
  const parts = [
    { id: 'service', title: 'Service metrics', metrics: all.filter(({ isDefault }) => !isDefault) },
    { id: 'processes', title: 'Process metrics', metrics: all.filter(({ isDefault }) => isDefault) },
  ];
  const body = html`<h1>Metrics</h1><p class="lead">${summary}</p>
<p>Each metric also has the label <code>role</code>: <code>edge</code>, <code>domain</code> or <code>worker</code>.</p>
${parts.map(({ id, title, metrics }) => html`${heading(id, title)}${table(metrics)}`)}`;
  return { path: operatePath(METRICS_SLUG), title: 'Metrics', summary, area: OPERATE_AREA, body };
}

function table(metrics: readonly MetricDescription[]): Html {
  return html`<div class="table"><table><thead><tr>${HEADINGS.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead><tbody>${metrics.map(
    ({ name, type, help, labels, roles }) =>
      html`<tr><th scope="row"><code>${name}</code> <small>${help}</small></th><td>${type}</td><td>${labels.join(', ')}</td><td>${roles.join(', ')}</td></tr>`,
  )}</tbody></table></div>`;
}
