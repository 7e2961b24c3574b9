import { NOT_FOUND_PATH } from '../edge/docs/site-file.js';
import { html } from '../edge/pages/html.js';
import type { Page } from './page.js';

export function notFoundPage(): Page {
  return {
    path: NOT_FOUND_PATH,
    title: 'There is no such page',
    summary: 'The address is wrong, or the page has moved.',
    area: 'Not found',
    body: html`<h1>There is no such page</h1><p class="lead">The address is wrong, or the page has moved.</p>
<p class="actions"><a class="button" href="/docs">To the start</a> <a class="button quiet" href="/docs/reference/gateway">To the references</a></p>`,
  };
}
