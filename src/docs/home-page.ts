import { NOT_FOUND_PATH } from '../edge/docs/site-file.js';
import { type Html, html } from '../edge/pages/html.js';
import { icons } from '../edge/pages/icons.js';
import { only } from './code.js';
import { GUIDES_AREA, type Guide, guidePath } from './guide-pages.js';
import type { Page } from './page.js';

const TITLE = 'Integrate with the platform';
const SUMMARY = 'Sign your users in, read the directory, and hear of changes as they happen.';

const parts = [
  {
    icon: icons.key,
    title: 'Sign-on',
    text: 'OAuth 2.0 and OpenID Connect. People sign in once, and your application learns who they are.',
    links: [
      ['/docs/sign-in', 'Sign users in'],
      ['/docs/reference/sign-on', 'Reference'],
    ],
  },
  {
    icon: icons.users,
    title: 'Gateway',
    text: 'A read API behind an API key: clients, workers, users, job titles and organization structure.',
    links: [
      ['/docs/read-and-stay-in-sync', 'Read and stay in sync'],
      ['/docs/reference/gateway', 'Reference'],
    ],
  },
  {
    icon: icons.mail,
    title: 'Webhooks',
    text: 'Signed events when people, units and locations change, by the Standard Webhooks scheme.',
    links: [
      ['/docs/webhooks', 'Receive webhooks'],
      ['/docs/reference/webhooks', 'Reference'],
    ],
  },
] as const;

export function homePage(guides: readonly Guide[], version: string): Page {
  const others = guides.filter(({ slug }) => slug !== 'start');
  const body = html`<div class="hero"><h1>${TITLE}</h1><p class="lead">${SUMMARY}</p>
<p class="actions"><a class="button" href="${guidePath('start')}">Start in five minutes</a> <a class="button quiet" href="/docs/downloads">SDKs and contracts</a></p></div>
<h2 class="unseen" id="parts">The three parts</h2>
<div class="cards">${parts.map(
    ({ icon, title, text, links }) =>
      html`<section class="tile"><span class="badge">${icon}</span><h3>${title}</h3><p>${text}</p><p class="links">${links.map(([href, name]) => html`<a href="${href}">${name}<span class="unseen"> (${title})</span></a>`)}</p></section>`,
  )}</div>
<h2 id="addresses">Addresses</h2>
<dl class="facts"><div><dt>Gateway</dt><dd><code>{{gatewayUrl}}</code></dd></div><div><dt>Sign-on</dt><dd><code>{{signOnUrl}}</code></dd></div><div><dt>Release</dt><dd>${version}</dd></div></dl>
${environment()}
<h2 id="guides">Guides</h2>
<ul class="guide-list">${others.map(({ slug, title, summary }) => html`<li><a href="${guidePath(slug)}"><b>${title}</b><span>${summary}</span></a></li>`)}</ul>`;
  return { path: '/docs', title: TITLE, summary: SUMMARY, area: GUIDES_AREA, body, isWide: true };
}

function environment(): Html {
  const demo = html`This is the <strong>demo environment</strong>: its people and data are invented, and the references let you send requests to it. Its operator has the keys, applications and people to sign in as: <code>make run</code> writes them to <code>demo.json</code>.`;
  const live = html`This is the <strong>live environment</strong>.`;
  const elsewhere = html` Try things out in the <a href="{{demoGatewayUrl}}/docs">demo environment</a> first, whose references also let you send requests.`;
  return html`<p class="callout">${only('demo', demo)}${only('live', live)}${only('live-with-demo', elsewhere)}</p>`;
}

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
