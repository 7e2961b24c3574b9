import { Html, html } from '../../edge/pages/html.js';
import { type Code, heading, made } from '../code.js';
import type { Contract, Example, Header, Media, PlacedOperation, Response } from '../contract.js';
import { withPlaces } from '../places.js';
import type { Api } from './api.js';
import { samplesOf } from './samples.js';
import { deprecation, type SchemaView } from './schema.js';
import { tryIt } from './try-it.js';

/** The full description of an operation. */
export function operationSection(api: Api, view: SchemaView, placed: PlacedOperation): Html {
  const { operationId, summary, description = '' } = placed.operation;
  const samples = samplesOf(api, placed);
  return html`<section class="operation">${heading(operationId, summary)}
<p class="address">${addressOf(placed)}</p>
<div class="prose">${view.prose.block(withPlaces(description))}</div>
${proof(api, placed)}
<div class="examples">${samples.length > 0 && view.prose.tabs.of(samples)}${answerExamples(view, placed)}</div>
${tryIt(api, placed)}
${parameters(view, placed)}
${body(view, placed)}
${responses(api, view, placed)}
</section>`;
}

/** Method, path, which breaks after slashes, and whether its end has been announced. */
export function addressOf({ method, path = 'your redirect URI', operation }: PlacedOperation): Html {
  const breakable = made(Html.escape(path).toString().replaceAll('/', '/<wbr>'));
  return html`<span class="method ${method}">${method.toUpperCase()}</span> <code>${breakable}</code>${deprecation(operation)}`;
}

/** What a successful call answers: beside the fields where there is room. */
function answerExamples(view: SchemaView, { operation }: PlacedOperation): Html[] {
  return Object.entries(operation.responses)
    .filter(([status]) => isGood(status))
    .flatMap(([status, reference]) =>
      Object.entries(view.contract.resolve(reference).content ?? {}).map(([type, media]) => {
        const shown = exampleBlocks(view, type, media);
        return html`${shown && html`<p class="shape"><span class="status good">${status}</span> <code>${type}</code></p>${shown}`}`;
      }),
    );
}

const isGood = (status: string) => status.startsWith('2');

/** How a caller authenticates. */
function proof(api: Api, { operation }: PlacedOperation): Html {
  const ways = api.contract.securityOf(operation);
  const open = ways.length === 0;
  const named = ways.map(
    (way, index) => html`${index > 0 && ' or '}<a href="${api.path}#authentication">${wayName(api, way)}</a>`,
  );
  const isOptional = operation.security?.some((way) => Object.keys(way).length === 0);
  return html`<p class="proof"><strong>Authentication</strong> ${open ? 'none' : named}${!open && isOptional && ', or credentials in the body'}</p>`;
}

function wayName(api: Api, way: string): string {
  const { type, scheme, name } = api.contract.document.components.securitySchemes[way] ?? { type: way };
  if (type === 'apiKey') {
    return `API key in ${name}`;
  }
  return scheme === 'basic' ? 'client secret' : 'access token';
}

function parameters(view: SchemaView, { operation, parameters: all }: PlacedOperation): Html {
  if (all.length === 0) {
    return html``;
  }
  const rows = all.map(({ name, in: where, required, schema, example, ...described }) =>
    view.row(
      name,
      {
        ...view.contract.resolve(schema),
        ...described,
        ...(example === undefined ? {} : { examples: [example] }),
      },
      { required, where },
    ),
  );
  return html`<h3 id="${operation.operationId}-parameters">Parameters</h3><ul class="list">${rows}</ul>`;
}

function body(view: SchemaView, { operation }: PlacedOperation): Html {
  const request = operation.requestBody && view.contract.resolve(operation.requestBody);
  if (!request) {
    return html``;
  }
  const kinds = Object.entries(request.content).map(
    ([type, media], index) =>
      html`<details class="media"${index === 0 && html` open`}><summary><code>${type}</code></summary>${shapeOf(view, type, media)}${exampleBlocks(view, type, media)}</details>`,
  );
  return html`<h3 id="${operation.operationId}-body">Body</h3>${kinds}`;
}

function responses(api: Api, view: SchemaView, { operation }: PlacedOperation): Html {
  const rows = Object.entries(operation.responses).map(([status, reference]) =>
    responseRow(api, view, status, view.contract.resolve(reference)),
  );
  return html`<h3 id="${operation.operationId}-responses">Responses</h3><div class="responses">${rows}</div>`;
}

function responseRow(api: Api, view: SchemaView, status: string, response: Response): Html {
  const kind = isGood(status) ? 'good' : status.startsWith('3') ? 'onward' : 'bad';
  const summary = html`<summary><span class="status ${kind}">${status}</span> ${view.prose.inline(withPlaces(response.description.split('\n\n')[0] ?? ''))}</summary>`;
  const media = Object.entries(response.content ?? {}).map(
    ([type, one]) =>
      html`${kind === 'bad' ? errorShapeOf(api, view, type, one) : shapeOf(view, type, one)}${kind !== 'good' && exampleBlocks(view, type, one)}`,
  );
  return html`<details class="response"${kind === 'good' && html` open`}>${summary}${headers(view, response)}${media}</details>`;
}

function headers(view: SchemaView, response: Response): Html {
  const rows = Object.entries(response.headers ?? {}).map(([name, reference]) => {
    const header = view.contract.resolve(reference);
    return view.row(
      name,
      {
        ...view.contract.resolve(header.schema ?? { type: 'string' }),
        ...(header.description === undefined ? {} : { description: header.description }),
        examples: headerExamples(header),
      },
      {},
    );
  });
  return rows.length === 0
    ? html``
    : html`<details class="members"><summary>Headers</summary><ul class="list">${rows}</ul></details>`;
}

/** An empty example stands for an absent header. */
function headerExamples({ example, examples = {} }: Header): unknown[] {
  return [example, ...Object.values(examples).map(({ value }) => value)].filter(
    (value) => value !== undefined && value !== '',
  );
}

function shapeOf(view: SchemaView, type: string, { schema }: Media): Html | undefined {
  return (
    schema &&
    html`<p class="shape"><code>${type}</code> <span class="type">${view.typeOf(schema)}</span></p>${view.of(schema)}`
  );
}

/** Errors share a schema, which has its own page. */
function errorShapeOf(api: Api, view: SchemaView, type: string, media: Media): Html | undefined {
  const title = media.schema && view.contract.resolve(media.schema).title;
  return title === undefined
    ? shapeOf(view, type, media)
    : html`<p class="shape"><code>${type}</code> <a href="${api.path}/schemas#${title}">${title}</a></p>`;
}

function exampleBlocks(view: SchemaView, type: string, { examples = {} }: Media): Html | undefined {
  const codes = Object.values(examples).map((example) => exampleCode(view.contract, type, example));
  return codes.length === 0 ? undefined : view.prose.tabs.of(codes, 'Example');
}

function exampleCode(contract: Contract, type: string, reference: Example): Code {
  const { summary, value } = contract.resolve(reference);
  const isForm = type === 'application/x-www-form-urlencoded';
  const text = isForm
    ? new URLSearchParams(value as Record<string, string>).toString().replaceAll('&', '\n&')
    : typeof value === 'string'
      ? value
      : JSON.stringify(value, null, 2);
  return {
    code: withPlaces(text),
    language: isForm || typeof value === 'string' ? 'text' : 'json',
    label: summary,
  };
}
