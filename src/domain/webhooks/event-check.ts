import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { EventType } from '../../../generated/asyncapi/events.js';
import { eventSchemas, payloadSchemaOf } from '../../../generated/asyncapi/schemas.js';
import type { EventId } from '../../../generated/ids.js';
import { RECEIVER } from '../platform/links.js';
import type { RecordedEvent } from '../platform/unit-of-work.js';
import { envelopeOf } from './event-body.js';

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
  const judge = judgeOf(type);
  if (!judge) {
    return 'its type is none of the contract';
  }
  if (judge({ ...envelope, data: { ...data, links } })) {
    return undefined;
  }
  const [fault] = judge.errors ?? [];
  return `${fault?.instancePath || 'the whole'} ${fault?.message}`;
}

/** Compiled at the first event of the type; ajv caches it. */
function judgeOf(type: EventType): ValidateFunction | undefined {
  return loadedSchemas().getSchema(`events${payloadSchemaOf[type]}`);
}
