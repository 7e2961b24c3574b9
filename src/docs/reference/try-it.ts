import { type Html, html } from '../../edge/pages/html.js';
import { made, only } from '../code.js';
import { type Operation, type Parameter, type PlacedOperation, type Schema, slugOf } from '../contract.js';
import type { Api } from './api.js';
import { idPlaceOf } from './samples.js';

const FORM = 'application/x-www-form-urlencoded';

interface Field {
  name: string;
  where: 'path' | 'query' | 'header' | 'body' | 'key' | 'bearer';
  required: boolean;
  hint: string;
  choices?: unknown[] | undefined;
}

/**
 * A form that sends the request from the page, in demo only. Only the script submits it: the browser would
 * put the key into the address. In live it links to the form of a demo, if configured.
 */
export function tryIt(api: Api, placed: PlacedOperation): Html {
  const { operation, method, path } = placed;
  if (path === undefined || !isReachable(api, operation)) {
    return html``;
  }
  const fields = [...keyFields(api, operation), ...parameterFields(placed), ...bodyFields(api, operation)];
  const id = `${operation.operationId}-try`;
  const page = `${api.path}/${slugOf(operation.tags?.[0] ?? '')}`;
  const elsewhere = html`<p class="try-elsewhere"><a class="button quiet" href="{{demoGatewayUrl}}${page}#${id}">Try it in the demo environment</a></p>`;
  const form = html`<details class="try" id="${id}"><summary>Try it</summary>
<form class="try-form" data-api="${api.url}" data-method="${method.toUpperCase()}" data-path="${path}" aria-labelledby="${id}-title">
<h3 id="${id}-title" class="try-title">Send it to the demo environment</h3>
<noscript><p>Sending a request from this page needs JavaScript.</p></noscript>
${fields.map((field, index) => fieldRow(`${id}-${index}`, field))}
<p class="send"><button type="submit" disabled>Send</button> <code class="try-address"></code></p>
<div class="try-facts" role="status"></div>
<div class="try-answer"></div>
</form></details>`;
  return html`${only('live-with-demo', elsewhere)}
${only('demo', form)}`;
}

/** The gateway has the page's origin; the sign-on server must allow other origins. */
function isReachable(api: Api, operation: Operation): boolean {
  return (
    api.name === 'gateway' ||
    Object.entries(operation.responses).some(
      ([status, response]) =>
        status.startsWith('2') &&
        'Access-Control-Allow-Origin' in (api.contract.resolve(response).headers ?? {}),
    )
  );
}

function keyFields(api: Api, operation: Operation): Field[] {
  const ways = api.contract.securityOf(operation);
  const hint = 'Kept in this tab only.';
  if (ways.includes('apiKey')) {
    return [
      {
        name: 'x-api-key',
        where: 'key',
        required: true,
        hint: `${hint} Yours is in demo.json, or comes from the operator.`,
      },
    ];
  }
  return ways.includes('accessToken')
    ? [{ name: 'Access token', where: 'bearer', required: true, hint }]
    : [];
}

function parameterFields({ parameters }: PlacedOperation): Field[] {
  const offered = parameters.filter(({ name }) => name !== 'x-request-id');
  return offered.map(({ name, in: where, required = false, example, schema }: Parameter) => ({
    name,
    where: where as 'path' | 'query' | 'header',
    required,
    hint: example === undefined ? '' : `Such as ${idPlaceOf(name, example)}`,
    choices: schema.enum,
  }));
}

function bodyFields(api: Api, operation: Operation): Field[] {
  const body = operation.requestBody && api.contract.resolve(operation.requestBody);
  const schema = body?.content[FORM]?.schema;
  if (!schema) {
    return [];
  }
  const { properties = {}, required = [] } = api.contract.resolve(schema);
  // The server refuses a token in two places, and the header has it.
  const { access_token: _, ...sent } = properties;
  return Object.entries(sent).map(([name, member]) => {
    const { examples, enum: choices }: Schema = api.contract.resolve(member);
    const example = examples?.[0];
    const hint = typeof example === 'string' && example.length < 50 ? `Such as ${example}` : '';
    return { name, where: 'body', required: required.includes(name), hint, choices };
  });
}

function fieldRow(id: string, { name, where, required, hint, choices }: Field): Html {
  const need = required && made(' required');
  const attributes = made(`id="${id}" name="${name}" data-where="${where}"`);
  const described = hint !== '' && made(` aria-describedby="${id}-hint"`);
  const isSecret = where === 'key' || where === 'bearer' || name === 'client_secret';
  const control =
    choices && choices.length > 1
      ? html`<select ${attributes}${need}${described}>${!required && html`<option value="">(not sent)</option>`}${choices.map((choice) => html`<option>${String(choice)}</option>`)}</select>`
      : html`<input ${attributes} type="${isSecret ? 'password' : 'text'}" autocomplete="off" spellcheck="false" autocapitalize="off"${need}${described}>`;
  return html`<div class="field"><label for="${id}"><code>${name}</code> <span class="where">${required ? 'required' : 'optional'}</span></label>${control}${
    hint !== '' && html`<p class="hint" id="${id}-hint">${hint}</p>`
  }</div>`;
}
