import { type Html, html } from '../../edge/pages/html.js';
import { heading } from '../code.js';
import { slugOf, type Tag } from '../contract.js';
import { type Destinations, Prose } from '../markdown.js';
import type { Page } from '../page.js';
import { withPlaces } from '../places.js';
import type { Api } from './api.js';
import { addressOf, operationSection } from './operation.js';
import { SchemaView } from './schema.js';

const tagPath = (api: Api, { name }: Tag) => `${api.path}/${slugOf(name)}`;
const schemasPath = (api: Api) => `${api.path}/schemas`;

/** The pages of all operations and schemas of an interface. */
export function destinationsIn(api: Api): [name: string, path: string][] {
  const operations = api.contract.tags().flatMap((tag) =>
    api.contract.operationsOf(tag.name).flatMap(({ operation, method, path }): [string, string][] => {
      const place = `${tagPath(api, tag)}#${operation.operationId}`;
      return [
        [operation.operationId, place],
        [`${method.toUpperCase()} ${path}`, place],
      ];
    }),
  );
  const schemas = Object.keys(api.contract.schemas()).map((name): [string, string] => [
    name,
    `${schemasPath(api)}#${name}`,
  ]);
  return [...schemas, ...operations];
}

/** The pages of one interface: an overview, a page per tag, and the schemas. */
export function referencePages(api: Api, destinations: Destinations): Page[] {
  return [
    overview(api, new Prose(destinations)),
    ...api.contract.tags().map((tag) => tagPage(api, tag, new Prose(destinations))),
    schemasPage(api, new Prose(destinations)),
  ];
}

function overview(api: Api, prose: Prose): Page {
  const { title, summary = '', description, version } = api.contract.document.info;
  const text = withPlaces(description);
  const operations = prose.idOf('Operations');
  const body = html`<h1>${title}</h1>
<p class="lead">${summary}</p>
<dl class="facts"><div><dt>Address</dt><dd><code>${api.url}</code></dd></div><div><dt>Version</dt><dd>${version}</dd></div><div><dt>Document</dt><dd><a href="/openapi/${api.name}.yaml">YAML</a>, <a href="/openapi/${api.name}.json">JSON</a></dd></div></dl>
<div class="prose">${prose.block(text)}</div>
${credentials(api, prose)}
${heading(operations, 'Operations')}
${api.contract.tags().map((tag) => operationList(api, tag))}`;
  return { path: api.path, title, summary, area: api.title, body };
}

/** If the text already has such a section, the schemes follow it under another heading. */
function credentials(api: Api, prose: Prose): Html {
  const id = prose.idOf('Authentication');
  const title = id === 'authentication' ? 'Authentication' : 'Credentials';
  const anchor = id === 'authentication' ? id : prose.idOf(title);
  const schemes = Object.values(api.contract.document.components.securitySchemes);
  const nameOf = ({ type, scheme, name = '' }: (typeof schemes)[number]) =>
    type === 'apiKey' ? name : scheme === 'basic' ? 'HTTP Basic' : 'Bearer token';
  return html`${heading(anchor, title)}<dl class="terms">${schemes.map(
    (scheme) => html`<div><dt>${nameOf(scheme)}</dt><dd>${prose.block(scheme.description ?? '')}</dd></div>`,
  )}</dl>`;
}

function operationList(api: Api, tag: Tag): Html {
  return html`<h3><a href="${tagPath(api, tag)}">${tag.name}</a></h3><ul class="operations">${api.contract
    .operationsOf(tag.name)
    .map(
      (placed) =>
        html`<li><a href="${tagPath(api, tag)}#${placed.operation.operationId}">${placed.operation.summary}</a> <span class="address">${addressOf(placed)}</span></li>`,
    )}</ul>`;
}

function tagPage(api: Api, tag: Tag, prose: Prose): Page {
  const view = new SchemaView(api.contract, prose);
  const operations = api.contract.operationsOf(tag.name);
  const sections = operations.map((placed) => operationSection(api, view, placed));
  const body = html`<p class="area">${api.title}</p><h1>${tag.name}</h1><div class="lead">${prose.block(tag.description ?? '')}</div>${sections}`;
  return {
    path: tagPath(api, tag),
    title: tag.name,
    summary: (tag.description ?? '').split('\n')[0] ?? '',
    area: api.title,
    body,
    entries: operations.map(({ operation }) => ({ id: operation.operationId, title: operation.summary })),
  };
}

function schemasPage(api: Api, prose: Prose): Page {
  const view = new SchemaView(api.contract, prose);
  const schemas = Object.entries(api.contract.schemas());
  const sections = schemas.map(
    ([name, schema]) =>
      html`<section class="schema">${heading(name, html`<code>${name}</code>`)}<p class="shape"><span class="type">${view.typeOf(schema)}</span></p>
<div class="prose">${prose.block(withPlaces(schema.description ?? ''))}</div>${view.of(schema)}</section>`,
  );
  const summary = `What ${api.title} is asked and answers, member by member.`;
  const body = html`<p class="area">${api.title}</p><h1>Schemas</h1><p class="lead">${summary}</p>${sections}`;
  return { path: schemasPath(api), title: 'Schemas', summary, area: api.title, body };
}
