import { html } from '../edge/pages/html.js';
import { Tabs } from './code.js';
import type { Page } from './page.js';

const CONTRACTS = [
  ['Gateway', 'OpenAPI 3.1', '/openapi/gateway'],
  ['Sign-on', 'OpenAPI 3.1', '/openapi/sign-on'],
  ['Webhooks', 'AsyncAPI 3.0', '/asyncapi/webhooks'],
] as const;

/** The packages of the build, by the language in their address. */
const packageNames = (version: string) =>
  ({
    typescript: `integration-service-sdk-${version}.tgz`,
    python: `integration_service_sdk-${version}-py3-none-any.whl`,
    go: `integration-service-sdk-go-${version}.zip`,
  }) as const;

const TITLES = { typescript: 'TypeScript', python: 'Python', go: 'Go' } as const;
const NEEDS = {
  typescript: 'Node 20 or newer',
  python: 'Python 3.10 or newer',
  go: 'Go 1.22 or newer, and 1.23 to range over lists as the guides do',
} as const;

const INSTALL_GO = (
  version: string,
) => `export GOPROXY={{gatewayUrl}}/sdk/go/proxy,https://proxy.golang.org,direct
export GONOSUMDB=integration.example.com
go get integration.example.com/sdk@v${version}`;

export function downloadsPage(version: string): Page {
  const files = packageNames(version);
  const languages = ['typescript', 'python', 'go'] as const;
  const install = new Tabs().of([
    {
      code: `npm install {{gatewayUrl}}/sdk/typescript/${files.typescript}`,
      language: 'bash',
      label: 'TypeScript',
    },
    { code: `pip install {{gatewayUrl}}/sdk/python/${files.python}`, language: 'bash', label: 'Python' },
    { code: INSTALL_GO(version), language: 'bash', label: 'Go' },
  ]);
  const summary = 'The SDKs and the contracts, served by this very server.';
  const body = html`<h1>Downloads</h1><p class="lead">${summary}</p>
<h2 id="sdks"><a class="self" href="#sdks">SDKs</a></h2>
<p>Each SDK reads the gateway with retries, paging and ETags, signs people in with PKCE, and verifies webhooks.</p>
${install}
<div class="table"><table><thead><tr><th scope="col">Language</th><th scope="col">Needs</th><th scope="col">Package</th></tr></thead><tbody>${languages.map(
    (language) =>
      html`<tr><td>${TITLES[language]}</td><td>${NEEDS[language]}</td><td><a href="/sdk/${language}">${files[language]}</a></td></tr>`,
  )}</tbody></table></div>
<h2 id="contracts"><a class="self" href="#contracts">Contracts</a></h2>
<p>Generate your own client, or mock the service with them. Their servers are the addresses of this environment.</p>
<div class="table"><table><thead><tr><th scope="col">Contract</th><th scope="col">Format</th><th scope="col">Files</th></tr></thead><tbody>${CONTRACTS.map(
    ([title, format, path]) =>
      html`<tr><td>${title}</td><td>${format}</td><td><a href="${path}.yaml">${title} YAML</a>, <a href="${path}.json">${title} JSON</a></td></tr>`,
  )}</tbody></table></div>
<h2 id="for-programs"><a class="self" href="#for-programs">For programs that read</a></h2>
<p><a href="/llms.txt">llms.txt</a> lists these pages; each is also Markdown, at its address with <code>.md</code> after it.</p>`;
  return { path: '/docs/downloads', title: 'Downloads', summary, area: 'Downloads', body };
}
