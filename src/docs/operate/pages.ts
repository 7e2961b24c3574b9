import { AUDIT_TYPES } from '../../domain/operator/audit-types.js';
import { html } from '../../edge/pages/html.js';
import { describeMetrics } from '../../telemetry/metric-list.js';
import { heading, table } from '../code.js';
import type { Page } from '../page.js';

export const OPERATE_AREA = 'Operate';
export const METRICS_SLUG = 'metrics';
export const AUDIT_TYPES_SLUG = 'audit-types';

export const operatePath = (slug: string) => `/docs/operate/${slug}`;

/** Every metric with its help text, as the code registers it. */
export function metricsPage(): Page {
  const all = describeMetrics();
  const summary = 'Every metric of the service, with the help text that a scrape returns.';
  const parts = [
    { id: 'service', title: 'Service metrics', metrics: all.filter(({ isDefault }) => !isDefault) },
    { id: 'processes', title: 'Process metrics', metrics: all.filter(({ isDefault }) => isDefault) },
  ].map(({ id, title, metrics }) => {
    const rows = metrics.map(
      ({ name, type, help, labels, roles }) =>
        html`<tr><th scope="row"><code>${name}</code> <small>${help}</small></th><td>${type}</td><td>${labels.join(', ')}</td><td>${roles.join(', ')}</td></tr>`,
    );
    return html`${heading(id, title)}${table(['Metric', 'Type', 'Labels', 'Roles'], rows)}`;
  });
  const body = html`<h1>Metrics</h1><p class="lead">${summary}</p>
<p>Each metric also has the label <code>role</code>: <code>edge</code>, <code>domain</code> or <code>worker</code>.</p>
${parts}`;
  return { path: operatePath(METRICS_SLUG), title: 'Metrics', summary, area: OPERATE_AREA, body };
}

/** Every type of audit record, from the list that the rules use. */
export function auditTypesPage(): Page {
  const title = 'Types of audit records';
  const summary = 'Every type of record in the audit log, and what happened.';
  const areas = Object.entries(AUDIT_TYPES).map(([area, types]) => {
    const rows = Object.entries(types).map(
      ([type, what]) => html`<tr><th scope="row"><code>${type}</code></th><td>${what}</td></tr>`,
    );
    const id = area.toLowerCase().replaceAll(' ', '-');
    return html`${heading(id, area)}${table(['Type', 'What happened'], rows)}`;
  });
  const body = html`<h1>${title}</h1><p class="lead">${summary}</p>
<p>The outcome “refused” means that the caller did not get what it asked for; the description names other consequences. <code>integration audit list --type</code> takes a type, or a pattern such as <code>api_key.*</code>.</p>
${areas}`;
  return { path: operatePath(AUDIT_TYPES_SLUG), title, summary, area: OPERATE_AREA, body };
}
