import { createHash } from 'node:crypto';
import { errorPage } from '../pages/error.js';
import type { Html } from '../pages/html.js';
import { layout, type PageContent } from '../pages/layout.js';
import { stylesheet } from '../pages/stylesheet.js';

const STYLE_HASH = createHash('sha256').update(stylesheet).digest('base64');

/** One year, after which a browser that never came back may ask again. */
const HSTS = 'max-age=31536000';

/** A host with its scheme, or the scheme of an app, as CSP writes them: it knows neither `[::1]` nor `_`. Anything else would be another directive. */
const SOURCE = /^(?:https?:\/\/[a-z0-9.-]+(?::\d{1,5})?|[a-z][a-z0-9+.-]*:)$/i;
/** An origin that CSP has no word for; its scheme stands for it. */
const UNNAMED = /^(https?:)\/\/[a-z0-9._:[\]-]+$/i;

/** What the error page says; everything is text. */
export interface ErrorContent {
  message: string;
  hint?: string | undefined;
  developerMessage?: string | undefined;
  continueUrl?: string | undefined;
  requestId: string;
}

/** Puts the pages into answers, with the headers that keep them from being framed, cached, scripted or traced. */
export class PageWriter {
  readonly #demo: boolean;
  /** Of every answer to a browser, redirects too. */
  readonly headers: Readonly<Record<string, string>> & { 'Referrer-Policy': 'no-referrer' };

  constructor({ signOnUrl, environment }: { signOnUrl: string; environment: 'live' | 'demo' }) {
    this.#demo = environment === 'demo';
    this.headers = {
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
      ...(signOnUrl.startsWith('https:') ? { 'Strict-Transport-Security': HSTS } : {}),
    };
  }

  /** A page; its forms may lead here and, where a place is named, onward by way of it. */
  page(
    content: PageContent,
    formActionSource = '',
  ): {
    status: 200;
    headers: PageWriter['headers'] & { 'Content-Security-Policy': string };
    body: Html;
  } {
    const headers = {
      ...this.headers,
      'Content-Security-Policy': [
        "default-src 'none'",
        `style-src 'sha256-${STYLE_HASH}'`,
        'img-src data:',
        ["form-action 'self'", ...onwardFrom(formActionSource)].join(' '),
        "frame-ancestors 'none'",
        "base-uri 'none'",
      ].join('; '),
      // For browsers that are older than frame-ancestors.
      'X-Frame-Options': 'DENY',
    };
    return { status: 200, headers, body: layout(content, this.#demo) };
  }

  /** The error page, which leads nowhere by itself. */
  error(content: ErrorContent) {
    return { ...this.page(errorPage(content)), status: 400 as const };
  }
}

/** Chromium asks again at each redirect, and where the application sends people on from its callback is its own affair: anywhere over https. */
function onwardFrom(source: string): string[] {
  const written = SOURCE.test(source) ? source : UNNAMED.exec(source)?.[1];
  if (written === undefined) {
    return [];
  }
  return written.startsWith('https:') ? ['https:'] : ['https:', written];
}
