import { createHash } from 'node:crypto';
import type { Dispatch } from '../http/exchange.js';
import { type ErrorPageContent, errorPage } from '../pages/error.js';
import { html } from '../pages/html.js';
import { layout, type PageContent } from '../pages/layout.js';
import { stylesheet } from '../pages/stylesheet.js';

const sourceOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const STYLE = sourceOf(stylesheet);

/** Of every answer to a browser, including redirects. */
export const BROWSER_HEADERS = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' } as const;

/** A host or app scheme as CSP writes it (not `[::1]` or `_`). Other text would be another directive. */
const SOURCE = /^(?:https?:\/\/[a-z0-9.-]+(?::\d{1,5})?|[a-z][a-z0-9+.-]*:)$/i;
/** An origin that CSP cannot express; its scheme replaces it. */
const UNNAMED = /^(https?:)\/\/[a-z0-9._:[\]-]+$/i;

/** Wraps pages with headers against framing, caching, scripts and referrers. */
export class PageWriter {
  constructor(private readonly environment: 'live' | 'demo') {}

  /**
   * A page whose forms may post here and redirect to `onward`. Only the page that answers `prompt=none`,
   * which asks nothing, may be framed.
   */
  page(content: PageContent, formActionSource = '', { mayBeFramed = false } = {}) {
    const headers = {
      ...BROWSER_HEADERS,
      'Content-Security-Policy': [
        "default-src 'none'",
        `style-src ${STYLE}`,
        ['img-src data:', ...imageFrom(content.image)].join(' '),
        // One directive: browsers ignore a second.
        ...(content.scripts ? [['script-src', ...content.scripts.map(sourceOf)].join(' ')] : []),
        ["form-action 'self'", ...onwardFrom(formActionSource)].join(' '),
        ...(mayBeFramed ? [] : ["frame-ancestors 'none'"]),
        "base-uri 'none'",
      ].join('; '),
      // For browsers without frame-ancestors.
      ...(!mayBeFramed && { 'X-Frame-Options': 'DENY' }),
    };
    return { status: 200 as const, headers, body: layout(content, this.environment === 'demo') };
  }

  /** The error page; its forms lead nowhere. */
  error(content: ErrorPageContent) {
    return { ...this.page(errorPage(content)), status: 400 as const };
  }
}

/** The origin of the picture; one that CSP cannot name is not loaded. */
function imageFrom(image: string | undefined): string[] {
  const { origin } = image !== undefined && URL.canParse(image) ? new URL(image) : { origin: '' };
  return SOURCE.test(origin) ? [origin] : [];
}

/** Chromium checks each redirect, and the callback may redirect on: allows any https address. */
function onwardFrom(source: string): string[] {
  const written = SOURCE.test(source) ? source : UNNAMED.exec(source)?.[1];
  if (written === undefined) {
    return [];
  }
  return written.startsWith('https:') ? ['https:'] : ['https:', written];
}

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
