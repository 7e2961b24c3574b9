import type { IncomingHttpHeaders } from 'node:http';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { eventSchemas, HEADERS_SCHEMA, payloadSchemaOf } from '../../../generated/asyncapi/schemas.js';

const CONTENT_HEADERS = ['Content-Type', 'User-Agent'] as const;

const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(eventSchemas, 'events');

/** Violations of the AsyncAPI document by a delivery. */
export function faultsOfWebhook(headers: IncomingHttpHeaders, body: Buffer): string[] {
  const event = parsed(body);
  if (!event) {
    return [`it is no JSON object: ${body.toString('utf8', 0, 200)}`];
  }
  const id = headers['webhook-id'];
  return [
    ...faultsUnder(HEADERS_SCHEMA, asDocumented(headers)),
    ...faultsOfEvent(event),
    ...(id === event.id ? [] : [`the header webhook-id says ${id}, the body ${event.id}`]),
  ];
}

/** Violations of the AsyncAPI document by the body of a delivery. */
export function faultsOfEvent(event: { id?: unknown; type?: unknown }): string[] {
  const pointer = payloadSchemaOf[event.type as keyof typeof payloadSchemaOf];
  return pointer === undefined
    ? [`it is no event of the contract: ${JSON.stringify(event).slice(0, 200)}`]
    : faultsUnder(pointer, event).map((fault) => `${event.type} ${event.id}: ${fault}`);
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
