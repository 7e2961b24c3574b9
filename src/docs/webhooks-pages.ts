import { type Html, html } from '../edge/pages/html.js';
import { type Code, heading } from './code.js';
import type { Contract, Example, Message, Tag } from './contract.js';
import { type Destinations, Prose } from './markdown.js';
import type { Page } from './page.js';
import { withPlaces } from './places.js';
import { type SampleBook, writtenSamples } from './reference/samples.js';
import { SchemaView } from './reference/schema.js';

const AREA = 'Webhooks';
const WEBHOOKS_PATH = '/docs/reference/webhooks';
const EVENTS_PATH = `${WEBHOOKS_PATH}/events`;

/** The page of each event type. */
export function eventDestinations(contract: Contract): [name: string, path: string][] {
  return messagesOf(contract).map(({ name }) => [name, `${EVENTS_PATH}#${name}`]);
}

export function webhookPages(contract: Contract, samples: SampleBook, destinations: Destinations): Page[] {
  return [overview(contract, samples, new Prose(destinations)), events(contract, new Prose(destinations))];
}

function messagesOf({ document }: Contract): Message[] {
  return Object.values(document.components.messages ?? {});
}

function overview(contract: Contract, samples: SampleBook, prose: Prose): Page {
  const { title, description, version } = contract.document.info;
  const text = withPlaces(description).replaceAll('{gateway}', '{{gatewayUrl}}');
  const summary = 'Signed requests that tell your system of changes as they happen.';
  const rows = messagesOf(contract).map(
    ({ name, summary: when = '' }) =>
      html`<li><a href="${EVENTS_PATH}#${name}"><code>${name}</code></a> ${when}</li>`,
  );
  const [withSdk, id] = [prose.idOf('With an SDK'), prose.idOf('Event types')];
  const body = html`<h1>${title}</h1><p class="lead">${summary}</p>
<dl class="facts"><div><dt>Scheme</dt><dd>Standard Webhooks v1</dd></div><div><dt>Version</dt><dd>${version}</dd></div><div><dt>Document</dt><dd><a href="/asyncapi/webhooks.yaml">YAML</a>, <a href="/asyncapi/webhooks.json">JSON</a></dd></div></dl>
<div class="prose">${prose.block(text)}</div>
${heading(withSdk, 'With an SDK')}
<p>Each SDK verifies signature and age, knows the types of the events, and lets through what is newer than itself. It throws, or returns an error, where a request is not genuine.</p>
${prose.tabs.of(writtenSamples(samples, 'sendEvent'))}
${heading(id, 'Event types')}<ul class="operations">${rows}</ul>`;
  return { path: WEBHOOKS_PATH, title, summary, area: AREA, body };
}

function events(contract: Contract, prose: Prose): Page {
  const view = new SchemaView(contract, prose);
  const summary = 'Every event type with its members and a signed example.';
  const groups = Object.entries(contract.document.components.tags ?? {}).map(([key, tag]) =>
    group(contract, view, key, tag),
  );
  const body = html`<p class="area">${AREA}</p><h1>Events</h1><p class="lead">${summary}</p>
<div class="prose">${prose.block(`Every event comes with the same headers. How to verify them is in the [overview](${WEBHOOKS_PATH}#verifying-the-signature).`)}</div>
${headers(contract, view)}${groups}`;
  const entries = Object.keys(contract.document.components.tags ?? {}).flatMap((key) =>
    messagesWith(contract, key).map(({ name, title }) => ({ id: name, title })),
  );
  return { path: EVENTS_PATH, title: 'Events', summary, area: AREA, body, entries };
}

function headers(contract: Contract, view: SchemaView): Html {
  const [first] = messagesOf(contract);
  return first ? html`${heading('headers', 'Headers')}${view.of(first.headers)}` : html``;
}

function messagesWith(contract: Contract, tag: string): Message[] {
  return messagesOf(contract).filter(({ tags = [] }) => tags.some(({ $ref }) => $ref.endsWith(`/${tag}`)));
}

function group(contract: Contract, view: SchemaView, key: string, { description = '' }: Tag): Html {
  const messages = messagesWith(contract, key);
  return html`<p class="group">${description}</p>${messages.map((message) => section(view, message))}`;
}

function section(view: SchemaView, { name, title, description = '', payload, examples }: Message): Html {
  return html`<section class="operation">${heading(name, title)}
<p class="address"><span class="method event">EVENT</span> <code>${name}</code></p>
<div class="prose">${view.prose.block(withPlaces(description))}</div>
<div class="examples"><h3 id="${name}-example">Example</h3>${view.prose.tabs.of(examples.map(exampleCode), 'Example')}</div>
<h3 id="${name}-body">Body</h3>${view.of(payload)}</section>`;
}

function exampleCode({ summary, headers: sent = {}, payload }: Example): Code {
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}`);
  const code = ['POST /your/path HTTP/1.1', ...lines, '', JSON.stringify(payload, null, 2)].join('\n');
  return { code, language: 'http', label: summary };
}
