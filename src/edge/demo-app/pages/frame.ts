import { createHash } from 'node:crypto';
import { Html, html } from '../../pages/html.js';
import { stylesheet } from '../../pages/stylesheet.js';

export const APP_NAME = 'Tidewater Timesheets';

/** Another product than the sign-on server: other colours and a wider column. */
const style = `${stylesheet}
:root { --glow: #d5efe9; --accent: #0b675f; --accent-strong: #074b45; --tint: #eaf6f3; }
@media (prefers-color-scheme: dark) {
  :root { --glow: #12332f; --accent: #6fd3c5; --accent-strong: #9be5da; --on-accent: #04231f; --tint: #15302d; }
}
.column { max-width: 46rem; }
h2 { margin: 2.25rem 0 0; font-size: 1.0625rem; line-height: 1.35; font-weight: 660; letter-spacing: -.01em; }
code, .code { color: inherit; font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .8125rem; }
p code { padding: .1rem .35rem; border-radius: .35rem; background: var(--tint); overflow-wrap: anywhere; }
.code { display: block; width: 100%; margin: .65rem 0 0; padding: .75rem .9rem; border: 1px solid var(--line); border-radius: .6rem; background: var(--tint);
  line-height: 1.55; overflow-wrap: anywhere; resize: vertical; field-sizing: content; }
.claims { margin: .9rem 0 0; border: 1px solid var(--line); border-radius: .75rem; }
.claims div { display: grid; grid-template-columns: 11rem 1fr; gap: .15rem 1rem; padding: .55rem 1rem; }
.claims div + div { border-top: 1px solid var(--line); }
.claims dt { font-size: .875rem; font-weight: 600; overflow-wrap: anywhere; }
.claims dd { margin: 0; min-width: 0; overflow-wrap: anywhere; font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .8125rem; line-height: 1.6; }
.claims dd span { display: block; color: var(--soft); }
details { margin: .65rem 0 0; border: 1px solid var(--line); border-radius: .75rem; }
summary { padding: .7rem 1rem; min-height: 2.9rem; border-radius: .75rem; cursor: pointer; overflow-wrap: anywhere; }
summary:hover { background: var(--tint); }
summary b { font-weight: 620; }
summary span { color: var(--soft); font-size: .875rem; }
details .code { width: calc(100% - 1.5rem); margin: 0 .75rem .75rem; }
.people { list-style: none; margin: .9rem 0 0; padding: 0; border: 1px solid var(--line); border-radius: .75rem; }
.people li + li { border-top: 1px solid var(--line); }
.people a { display: block; padding: .65rem 1rem; border-radius: .75rem; color: var(--text); text-decoration: none; overflow-wrap: anywhere; }
.people a:hover { background: var(--tint); }
.people b { display: block; font-weight: 600; color: var(--accent); }
.people span { display: block; font-size: .875rem; color: var(--soft); }
.next { display: grid; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)); gap: .65rem; margin-top: 1.75rem; }
@media (max-width: 30rem) { .claims div { grid-template-columns: 1fr; } }
`;

/** Unescaped on purpose: its hash is in the Content-Security-Policy. */
const styleElement = Html.fromSource([`<style>${style}</style>`], []);

/** The address of the page holds a code: it is neither stored nor told to other servers. */
export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    'img-src data:',
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
};

/** The mark for the tab, inline to save a request. */
const FAVICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Ccircle cx='16' cy='16' r='15' fill='%230b675f'/%3E%3Cpath d='M16 8v8.500l5.500 3.200' fill='none' stroke='%23fff' stroke-width='2.600' stroke-linecap='round'/%3E%3C/svg%3E";

const MARK = html`<svg viewBox="0 0 32 32" aria-hidden="true"><circle cx="16" cy="16" r="15" fill="currentColor"/><circle cx="16" cy="16" r="10.500" fill="none" stroke="var(--on-accent)" stroke-width="1.400"/><g fill="none" stroke="var(--on-accent)" stroke-width="2.400" stroke-linecap="round"><line x1="16" y1="16.500" x2="16" y2="10"/><line x1="16" y1="16.500" x2="20.200" y2="19"/></g></svg>`;

export function framed(title: string, body: Html): string {
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${title} · ${APP_NAME}</title>
<link rel="icon" href="${FAVICON}">
${styleElement}
</head>
<body>
<p class="demo" role="note"><strong>Demo environment.</strong> This application stands in for yours; its people are invented.</p>
<div class="frame">
<div class="column">
<p class="brand">${MARK}<span>${APP_NAME}</span></p>
<main class="card">
${body}
</main>
<footer>The secrets and tokens shown here work on this demo only.</footer>
</div>
</div>
</body>
</html>
`);
}

/** Characters in a line of the column. */
const CODE_COLUMNS = 80;

/** Text to copy, also by keyboard: a field can have the focus, and Ctrl+A selects what is in it. */
export function code(label: string, text: string): Html {
  const rows = text.split('\n').reduce((sum, line) => sum + Math.ceil(line.length / CODE_COLUMNS), 0);
  return html`<textarea class="code" readonly spellcheck="false" rows="${rows}" aria-label="${label}">${text}</textarea>`;
}

/** Readable on light and dark pages. */
export const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="96" height="96"><circle cx="16" cy="16" r="15" fill="#0b675f"/><circle cx="16" cy="16" r="10.5" fill="none" stroke="#fff" stroke-width="1.4"/><path d="M16 10v6.5l4.2 2.5" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"/></svg>
`;
