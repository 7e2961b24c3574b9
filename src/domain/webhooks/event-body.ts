import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import type { EventType } from '../../../generated/asyncapi/events.js';
import { eventSchemas, payloadSchemaOf } from '../../../generated/asyncapi/schemas.js';
import type { EventId, InstanceIntegrationId } from '../../../generated/ids.js';
import { RECEIVER, type RecordedEvent } from '../platform/unit-of-work.js';

/** An event as recorded, without its meaning. */
export interface StoredEvent {
  id: EventId;
  type: string;
  occurredAt: number;
  /** Greater than in earlier events of the entity. */
  sequence: number;
  /** 1 for a test event. */
  isTest: 0 | 1;
  /** The request id of the call that made the change, for logs; null if unknown. */
  requestId: string | null;
  /** The span of that write as a W3C `traceparent`; read for deliveries only. */
  traceparent?: string | null;
  instanceId: string;
  clientId: string;
  entityType: string;
  entityId: string;
  /** The payload as JSON, `links` last; `links.self` contains `RECEIVER`. */
  data: string;
}

const SPEC_VERSION = 1;
const DATA_VERSION = 1;

/** All of the body but `data`. */
function envelopeOf({
  id,
  type,
  occurredAt,
  sequence,
  isTest,
  entityType,
  entityId,
}: Omit<StoredEvent, 'instanceId' | 'clientId' | 'data' | 'requestId' | 'traceparent'>) {
  return {
    id,
    type,
    specVersion: SPEC_VERSION,
    dataVersion: DATA_VERSION,
    occurredAt: new Date(occurredAt).toISOString(),
    sequence,
    ...(isTest === 1 && { test: true }),
    entity: { type: entityType, id: entityId },
  };
}

/** The exact text to sign and post. Inserts the recorded payload without parsing it. */
export function eventBody(event: StoredEvent, receiver: InstanceIntegrationId): string {
  const envelope = JSON.stringify(envelopeOf(event));
  return `${envelope.slice(0, -1)},"data":${linkedFor(receiver, event.data)}}`;
}

/** The link is last in the payload: the last occurrence is the placeholder, earlier ones are in names. */
function linkedFor(receiver: InstanceIntegrationId, data: string): string {
  const at = data.lastIndexOf(RECEIVER);
  return at < 0 ? data : `${data.slice(0, at)}${receiver}${data.slice(at + RECEIVER.length)}`;
}

/** Stands for the receiver, which is not known when an event is recorded. */
const ANY_RECEIVER = 'iin_0000000000000000000000';

let schemas: Ajv | undefined;

/** Made on first use: commands that record no event do not pay for it. */
function loadedSchemas(): Ajv {
  if (!schemas) {
    // The quick formats suffice for what this service writes, and take half the time.
    schemas = addFormats.default(new Ajv({ strict: false }), { mode: 'fast' });
    schemas.addSchema(eventSchemas, 'events');
  }
  return schemas;
}

/** What receivers may not get: the first violation of the contract, without its value. */
export function faultOfEvent<T extends EventType>(
  { type, entity, data }: RecordedEvent<T>,
  { id, occurredAt }: { id: EventId; occurredAt: number },
): string | undefined {
  const links = { ...data.links, self: data.links.self.replace(RECEIVER, ANY_RECEIVER) };
  // The sequence is drawn later; any number stands for it.
  const envelope = envelopeOf({
    ...{ id, type, occurredAt, sequence: occurredAt, isTest: 0 },
    ...{ entityType: entity.type, entityId: entity.id },
  });
  // Compiled at the first event of the type; ajv caches it.
  const judge = loadedSchemas().getSchema(`events${payloadSchemaOf[type]}`);
  if (!judge) {
    return 'its type is none of the contract';
  }
  if (judge({ ...envelope, data: { ...data, links } })) {
    return undefined;
  }
  const [fault] = judge.errors ?? [];
  return `${fault?.instancePath || 'the whole'} ${fault?.message}`;
}
