import { AUDIT_TYPES } from '../../domain/operator/audit-types.js';
import { html } from '../../edge/pages/html.js';
import { heading } from '../code.js';
import type { Page } from '../page.js';
import { OPERATE_AREA, operatePath } from './metrics-page.js';

export const AUDIT_TYPES_SLUG = 'audit-types';

/** Every type of audit record, as the rules that write them know it. */
export function auditTypesPage(): Page {
  const summary = 'Every type of record in the audit log, and what happened.';
  const areas = Object.entries(AUDIT_TYPES).map(([title, types]) => {
    const id = title.toLowerCase().replaceAll(' ', '-');
    return html`${heading(id, title)}<div class="table"><table><thead><tr><th scope="col">Type</th><th scope="col">What happened</th></tr></thead><tbody>${Object.entries(
      types,
    ).map(
      ([type, what]) => html`<tr><th scope="row"><code>${type}</code></th><td>${what}</td></tr>`,
    )}</tbody></table></div>`;
  });
  const body = html`<h1>Types of audit records</h1><p class="lead">${summary}</p>
<p>The outcome “refused” means that the caller did not get what it asked for; the description names other consequences. <code>integration audit list --type</code> takes a type, or a pattern such as <code>api_key.*</code>.</p>
${areas}`;
  return {
    path: operatePath(AUDIT_TYPES_SLUG),
    title: 'Types of audit records',
    summary,
    area: OPERATE_AREA,
    body,
  };
}
