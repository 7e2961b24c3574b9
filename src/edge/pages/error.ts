import { operations } from '../../../generated/openapi/sign-on-operations.js';
import { html } from './html.js';
import { icons } from './icons.js';
import type { PageContent } from './layout.js';

/** All of it text. */
export interface ErrorPageContent {
  message: string;
  hint?: string | undefined;
  developerMessage?: string | undefined;
  /** A path of this server. */
  continueUrl?: string | undefined;
  requestId: string;
}

/** States the error and how to continue; the details are for support. */
export function errorPage(content: ErrorPageContent): PageContent {
  const { message, hint, developerMessage, continueUrl, requestId } = content;
  const body = html`<div class="badge bad">${icons.warning}</div>
<h1>Something went wrong</h1>
<p class="lead">${message}</p>
${hint !== undefined && html`<p class="lead">${hint}</p>`}
${continueUrl !== undefined && html`<div class="actions"><a class="button" id="continue" href="${continueUrl}">${continueUrl === operations.logout.path ? 'Sign out' : 'Start again'}</a></div>`}
<dl class="facts">
${developerMessage !== undefined && html`<dt>For developers</dt><dd>${developerMessage}</dd>`}
<dt>Request</dt><dd>${requestId}</dd>
</dl>`;
  return { title: 'Something went wrong', body };
}
