import { Html, html } from './html.js';
import { FAVICON, icons } from './icons.js';
import { stylesheet } from './stylesheet.js';

/** A page without its frame. */
export interface PageContent {
  title: string;
  /** The instance that a person signs in to, if known. */
  brand?: string | undefined;
  body: Html;
  /** From the source code only; the Content-Security-Policy of the page has their hashes. */
  scripts?: readonly string[];
  /** A picture of another host, which this page alone may load. */
  image?: string | undefined;
}

/** Unescaped on purpose: its hash is in the Content-Security-Policy. */
const style = Html.fromSource([`<style>${stylesheet}</style>`], []);

export function layout({ title, brand = 'Sign-on', body, scripts = [] }: PageContent, demo: boolean): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${title}${brand !== 'Sign-on' && ` · ${brand}`}</title>
<link rel="icon" href="${FAVICON}">
${style}
</head>
<body>
${demo && html`<p class="demo" role="note"><strong>Demo environment.</strong> The people and data here are invented.</p>`}
<div class="frame">
<div class="column">
<p class="brand">${icons.mark}<span>${brand}</span></p>
<main class="card">
${body}
</main>
<footer>One sign-in for all your applications</footer>
</div>
</div>
${scripts.map((script) => Html.fromSource([`<script>${script}</script>`], []))}
</body>
</html>
`;
}
