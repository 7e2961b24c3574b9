import type { Dispatch } from '../http/exchange.js';
import { html } from '../pages/html.js';
import type { PageContent } from '../pages/layout.js';
import type { PageWriter } from './page-writer.js';

interface FrontLinks {
  docsUrl: string;
  /** The application of a demo. */
  demoAppUrl?: string | undefined;
}

/** Answers the bare address with a page that leads on; passes on every other request. */
export function withFrontPage(pages: PageWriter, links: FrontLinks, onward: Dispatch): Dispatch {
  const { status, headers, body } = pages.page(frontPage(links));
  const answer = {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8', ...headers },
    body: String(body),
    operation: 'showFront',
  };
  return async (request) =>
    request.path === '/' && (request.method === 'GET' || request.method === 'HEAD')
      ? { ...answer }
      : onward(request);
}

/** For people who open the bare address of the sign-on server: sign-ins begin at an application. */
function frontPage({ docsUrl, demoAppUrl }: FrontLinks): PageContent {
  const body = html`<h1>Sign-in starts at an application</h1>
<p class="lead">Open the application that you want to use. It sends you here to sign in, and you return to it afterwards.</p>
<div class="actions">
${demoAppUrl !== undefined && html`<a class="button" id="demo-app" href="${demoAppUrl}">Try it with the demo application</a>`}
<a class="button quiet" id="docs" href="${docsUrl}">Documentation for developers</a>
</div>`;
  return { title: 'Sign-on', body };
}
