import type { IncomingHttpHeaders } from 'node:http';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { eventSchemas, headersSchema, payloadSchemaOf } from '../../../generated/asyncapi/schemas.js';

const CONTENT_HEADERS = ['Content-Type', 'User-Agent'] as const;

const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(eventSchemas, 'events');

/** Violations of the AsyncAPI document by a delivery. */
export function faultsOfWebhook(headers: IncomingHttpHeaders, body: Buffer): string[] {
  const event = parsed(body);
  const pointer = payloadSchemaOf[event?.type as keyof typeof payloadSchemaOf];
  if (!event || pointer === undefined) {
    return [`it is no event of the contract: ${body.toString('utf8', 0, 200)}`];
  }
  const id = headers['webhook-id'];
  return [
    ...faultsUnder(headersSchema, asDocumented(headers)),
    ...faultsUnder(pointer, event).map((fault) => `${event.type} ${event.id}: ${fault}`),
    ...(id === event.id ? [] : [`the header webhook-id says ${id}, the body ${event.id}`]),
  ];
}

function faultsUnder(pointer: string, value: unknown): string[] {
  const validate = ajv.getSchema(`events${pointer}`) as ValidateFunction;
  return validate(value)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || 'the whole'} ${message}`);
}

/** Node knows them in small letters only. */
function asDocumented(headers: IncomingHttpHeaders): Record<string, unknown> {
  const renamed = CONTENT_HEADERS.map((name) => [name, headers[name.toLowerCase()]]);
  return { ...headers, ...Object.fromEntries(renamed.filter(([, value]) => value !== undefined)) };
}

function parsed(body: Buffer): { id?: unknown; type?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
