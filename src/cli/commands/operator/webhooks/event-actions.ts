import type { WebhookEvent } from '../../../../../generated/proto/integration/webhooks/v1/events.js';
import { asFacts, asTime } from '../../output/table.js';
import { listed, shownList } from '../listing.js';
import type { Action } from '../session.js';
import { indented, prettyBody } from './delivery-facts.js';

export interface EventFilter {
  types?: readonly string[];
  instance?: string;
  client?: string;
  entity?: string;
  since?: Date;
  until?: Date;
  limit: number;
}

export const list: Action<EventFilter> = async (
  { webhooks, call },
  _,
  { types = [], instance, client, entity, since, until, limit },
) => {
  const filter = {
    types: [...types],
    instanceId: instance,
    clientId: client,
    entityId: entity,
    since,
    until,
  };
  const found = await listed(limit, 'events', (page) => webhooks.listEvents({ ...filter, ...page }, call));
  return shownList(found, ['event', 'type', 'about', 'client', 'occurred'], (event) => [
    event.id,
    event.type,
    event.entityId,
    event.clientId,
    asTime(event.occurredAt),
  ]);
};

export const show: Action<{ instanceIntegration?: string }> = async (
  { webhooks, call },
  [eventId = ''],
  { instanceIntegration },
) => {
  const request = { eventId, instanceIntegrationId: instanceIntegration };
  const answer = await webhooks.getEvent(request, call);
  const event = answer.event as WebhookEvent;
  const facts = asFacts([
    ['Event', event.id],
    ['Type', event.type],
    ['About', `${event.entityType} ${event.entityId}`],
    ['Client', event.clientId],
    ['Instance', event.instanceId],
    ['Occurred', asTime(event.occurredAt)],
    ['Caused by request', event.requestId ?? '-'],
  ]);
  return { json: answer, text: `${facts}\n\nBody\n\n${indented(prettyBody(answer.body))}` };
};
