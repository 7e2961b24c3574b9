import { stringify } from 'yaml';
import type { SiteFile } from '../edge/docs/site-file.js';
import { html } from '../edge/pages/html.js';
import { heading, Tabs, table } from './code.js';
import type { Contract, Document } from './contract.js';
import type { Page } from './page.js';
import { withPlaces } from './places.js';

const CONTRACTS = [
  ['Gateway', 'OpenAPI 3.1', '/openapi/gateway'],
  ['Sign-on', 'OpenAPI 3.1', '/openapi/sign-on'],
  ['Webhooks', 'AsyncAPI 3.0', '/asyncapi/webhooks'],
] as const;

/** The packages of the build. */
const sdks = (version: string) => {
  const npm = `integration-service-sdk-${version}.tgz`;
  const wheel = `integration_service_sdk-${version}-py3-none-any.whl`;
  return [
    {
      title: 'TypeScript',
      needs: 'Node 20 or newer',
      path: '/sdk/typescript',
      file: npm,
      install: `npm install {{gatewayUrl}}/sdk/typescript/${npm}`,
    },
    {
      title: 'Python',
      needs: 'Python 3.10 or newer',
      path: '/sdk/python',
      file: wheel,
      install: `pip install {{gatewayUrl}}/sdk/python/${wheel}`,
    },
    {
      title: 'Go',
      needs: 'Go 1.22 or newer, and 1.23 to range over lists as the guides do',
      path: '/sdk/go',
      file: `integration-service-sdk-go-${version}.zip`,
      install: `export GOPROXY={{gatewayUrl}}/sdk/go/proxy,https://proxy.golang.org,direct
export GONOSUMDB=integration.example.com
go get integration.example.com/sdk@v${version}`,
    },
  ];
};

export function downloadsPage(version: string): Page {
  const packages = sdks(version);
  const install = new Tabs().of(
    packages.map(({ title, install: code }) => ({ code, language: 'bash', label: title })),
  );
  const rows = packages.map(
    ({ title, needs, path, file }) =>
      html`<tr><td>${title}</td><td>${needs}</td><td><a href="${path}">${file}</a></td></tr>`,
  );
  const contracts = CONTRACTS.map(
    ([title, format, path]) =>
      html`<tr><td>${title}</td><td>${format}</td><td><a href="${path}.yaml">${title} YAML</a>, <a href="${path}.json">${title} JSON</a></td></tr>`,
  );
  const summary = 'The SDKs and the contracts, served by this very server.';
  const body = html`<h1>Downloads</h1><p class="lead">${summary}</p>
${heading('sdks', 'SDKs')}
<p>Each SDK reads the gateway with retries, paging and ETags, signs people in with PKCE, and verifies webhooks.</p>
${install}
${table(['Language', 'Needs', 'Package'], rows)}
${heading('contracts', 'Contracts')}
<p>Generate your own client, or mock the service with them. Their servers are the addresses of this environment.</p>
${table(['Contract', 'Format', 'Files'], contracts)}
${heading('for-programs', 'For programs that read')}
<p><a href="/llms.txt">llms.txt</a> lists these pages; each is also Markdown, at its address with <code>.md</code> after it.</p>`;
  return { path: '/docs/downloads', title: 'Downloads', summary, area: 'Downloads', body };
}

/** The serving server replaces those of a contract. */
const SERVERS: Record<string, unknown> = {
  gateway: [{ url: '{{gatewayUrl}}', description: 'The gateway that serves this document.' }],
  'sign-on': [{ url: '{{signOnUrl}}', description: 'The sign-on server, which is also its issuer URL.' }],
};

/** The contracts for download, as JSON and YAML. */
export function contractFiles(contracts: Record<'gateway' | 'sign-on' | 'webhooks', Contract>): SiteFile[] {
  return Object.entries(contracts).flatMap(([name, { document }]) => {
    const folder = name === 'webhooks' ? 'asyncapi' : 'openapi';
    const served = asServed(name, document);
    return [
      {
        path: `/${folder}/${name}.json`,
        type: 'application/json',
        body: `${JSON.stringify(served, null, 2)}\n`,
      },
      {
        path: `/${folder}/${name}.yaml`,
        type: 'application/yaml',
        body: stringify(served, { lineWidth: 0 }),
      },
    ];
  });
}

/** Examples stay unchanged: they are consistent, including tokens signed for their issuer. */
function asServed(name: string, document: Document): Document {
  const description = withPlaces(document.info.description);
  const served = { ...document, info: { ...document.info, description } };
  return name in SERVERS ? { ...served, servers: SERVERS[name] } : served;
}
