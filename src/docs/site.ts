import { createHash } from 'node:crypto';
import type { SiteFile } from '../edge/docs/site-file.js';
import { markdownOf } from './as-markdown.js';
import type { Contract } from './contract.js';
import { costsPage } from './costs-page.js';
import { contractFiles, downloadsPage } from './downloads.js';
import { GUIDES_AREA, guidePages, guidePath } from './guide-pages.js';
import { homePage, notFoundPage } from './home-page.js';
import { type Frame, layout, type NavigationGroup } from './layout.js';
import type { Destinations } from './markdown.js';
import {
  AUDIT_TYPES_SLUG,
  auditTypesPage,
  METRICS_SLUG,
  metricsPage,
  OPERATE_AREA,
  operatePath,
} from './operate/pages.js';
import type { Page } from './page.js';
import type { Api } from './reference/api.js';
import { errorDestinations, errorsPage } from './reference/errors.js';
import { destinationsIn, referencePages } from './reference/pages.js';
import { searchIndex } from './search-index.js';
import type { Sources } from './sources.js';
import { eventDestinations, webhookPages } from './webhooks-pages.js';

const ASSETS_PATH = '/docs/assets';
const STYLE_PATH = `${ASSETS_PATH}/docs.css`;
const THEME_PATH = `${ASSETS_PATH}/theme.js`;
const SCRIPT_PATH = `${ASSETS_PATH}/docs.js`;
export const SEARCH_PATH = `${ASSETS_PATH}/search.json`;
const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
const HTML_TYPE = 'text/html; charset=utf-8';

/** The whole site: pages, style, scripts, contracts, and the pages as text. */
export function renderSite(sources: Sources): SiteFile[] {
  const { groups, alone } = pagesOf(sources);
  const listed = groups.flatMap(({ pages }) => pages);
  const frame: Frame = {
    groups,
    style: versioned(STYLE_PATH, sources.style),
    script: versioned(SCRIPT_PATH, sources.script),
    themeScript: versioned(THEME_PATH, sources.themeScript),
    version: sources.version,
  };
  const pages = [...alone, ...listed];
  return [
    ...pages.map((page) => ({ path: page.path, type: HTML_TYPE, body: layout(page, frame).toString() })),
    ...listed.map(textOfPage),
    { path: STYLE_PATH, type: 'text/css; charset=utf-8', body: sources.style },
    { path: SCRIPT_PATH, type: SCRIPT_TYPE, body: sources.script },
    { path: THEME_PATH, type: SCRIPT_TYPE, body: sources.themeScript },
    ...sources.searchEngine.map(({ name, body }) => ({
      path: `${ASSETS_PATH}/${name}`,
      type: SCRIPT_TYPE,
      body,
    })),
    { path: SEARCH_PATH, type: 'application/json', body: JSON.stringify(searchIndex(listed)) },
    { path: '/llms.txt', type: 'text/plain; charset=utf-8', body: llmsText(groups) },
    ...contractFiles({ gateway: sources.gateway, 'sign-on': sources.signOn, webhooks: sources.webhooks }),
  ];
}

function pagesOf(sources: Sources): { groups: NavigationGroup[]; alone: Page[] } {
  const { version, guides, webhooks, samples } = sources;
  const apiOf = (name: Api['name'], title: string, url: Api['url'], contract: Contract): Api => {
    return { name, title, path: `/docs/reference/${name}`, url, contract, samples };
  };
  const gateway = apiOf('gateway', 'Gateway API', '{{gatewayUrl}}', sources.gateway);
  const signOn = apiOf('sign-on', 'Sign-on', '{{signOnUrl}}', sources.signOn);
  const reference = (api: Api) => {
    const destinations = destinationsOf(sources, [api]);
    return { title: api.title, pages: [...referencePages(api, destinations), errorsPage(api, destinations)] };
  };
  const everywhere = destinationsOf(sources, [gateway, signOn]);
  return {
    groups: [
      { title: GUIDES_AREA, pages: [...guidePages(guides, everywhere), costsPage(sources.costs)] },
      reference(gateway),
      reference(signOn),
      { title: 'Webhooks', pages: webhookPages(webhooks, samples, everywhere) },
      { title: 'SDKs and contracts', pages: [downloadsPage(version)] },
      {
        title: OPERATE_AREA,
        pages: [
          ...guidePages(sources.operate, everywhere, OPERATE_AREA, operatePath),
          metricsPage(),
          auditTypesPage(),
        ],
      },
    ],
    alone: [homePage(guides, version), notFoundPage()],
  };
}

/** Links names to their descriptions, except names that are ordinary words or mean several things. */
function destinationsOf({ guides, operate, webhooks }: Sources, apis: readonly Api[]): Destinations {
  const codes = apis.map((api) => new Map(errorDestinations(api)));
  const clear = codes.flatMap((own) =>
    [...own].filter(([code]) => !codes.some((other) => other !== own && other.has(code))),
  );
  const names = new Map([...apis.flatMap(destinationsIn), ...clear, ...eventDestinations(webhooks)]);
  const paths = new Map([
    ...guides.map(({ slug }) => [slug, guidePath(slug)] as const),
    ...[...operate.map(({ slug }) => slug), METRICS_SLUG, AUDIT_TYPES_SLUG].map(
      (slug) => [slug, operatePath(slug)] as const,
    ),
  ]);
  return {
    ofName: (name) => (/[a-z][A-Z]|\.|_|^[A-Z]+ \//.test(name) ? names.get(name) : undefined),
    ofGuide: (slug) => paths.get(slug),
  };
}

/** Guides are as written; what is made from a contract is made into text too. */
function textOfPage({ path, body, markdown = markdownOf(body.toString()) }: Page): SiteFile {
  return { path: `${path}.md`, type: 'text/markdown; charset=utf-8', body: `${markdown.trim()}\n` };
}

/** A changed style or script gets a new address, so that caches never mix versions. */
function versioned(path: string, content: string): string {
  return `${path}?v=${createHash('sha256').update(content).digest('base64url').slice(0, 10)}`;
}

/** The index of the site for programs: all pages, with links to their text. */
function llmsText(groups: readonly { title: string; pages: readonly Page[] }[]): string {
  const sections = groups.map(({ title, pages }) => [
    `## ${title}`,
    '',
    ...pages.map(({ path, title: name, summary }) => `- [${name}]({{gatewayUrl}}${path}.md): ${summary}`),
    '',
  ]);
  return [
    '# Integration service',
    '',
    '> Sign-on (OAuth 2.0, OpenID Connect), a read-only gateway API behind an API key, and signed webhooks for a workforce platform.',
    '',
    'Gateway: {{gatewayUrl}}. Sign-on server and issuer: {{signOnUrl}}. The contracts below are complete and exact; where prose and contract differ, the contract is right.',
    '',
    '## Contracts and SDKs',
    '',
    '- [Gateway]({{gatewayUrl}}/openapi/gateway.yaml): OpenAPI 3.1; also .json',
    '- [Sign-on]({{gatewayUrl}}/openapi/sign-on.yaml): OpenAPI 3.1; also .json',
    '- [Webhooks]({{gatewayUrl}}/asyncapi/webhooks.yaml): AsyncAPI 3.0; also .json',
    '- [TypeScript SDK]({{gatewayUrl}}/sdk/typescript): npm package',
    '- [Python SDK]({{gatewayUrl}}/sdk/python): wheel',
    '- [Go SDK]({{gatewayUrl}}/sdk/go): module; GOPROXY at {{gatewayUrl}}/sdk/go/proxy',
    '',
    ...sections.flat(),
  ].join('\n');
}
