import { html } from './html.js';
import type { PageContent } from './layout.js';

export interface FrontLinks {
  docsUrl: string;
  /** The application of a demo. */
  demoAppUrl?: string | undefined;
}

/** For people who open the bare address of the sign-on server: sign-ins begin at an application. */
export function frontPage({ docsUrl, demoAppUrl }: FrontLinks): PageContent {
  const body = html`<h1>Sign-in starts at an application</h1>
<p class="lead">Open the application that you want to use. It sends you here to sign in, and you return to it afterwards.</p>
<div class="actions">
${demoAppUrl !== undefined && html`<a class="button" id="demo-app" href="${demoAppUrl}">Try it with the demo application</a>`}
<a class="button quiet" id="docs" href="${docsUrl}">Documentation for developers</a>
</div>`;
  return { title: 'Sign-on', body };
}
