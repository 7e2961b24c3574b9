import type { WebhookEvent } from '../../../../../generated/proto/integration/webhooks/v1/events.js';
import { asFacts, asTime } from '../../output/table.js';
import { listed, shownList } from '../listing.js';
import type { Session, Shown } from '../session.js';
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

export async function list(
  { webhooks, call }: Session,
  _: readonly string[],
  { types = [], instance, client, entity, since, until, limit }: EventFilter,
): Promise<Shown> {
  const filter = {
    types: [...types],
    instanceId: instance,
    clientId: client,
    entityId: entity,
    since,
    until,
  };
  const found = await listed(limit, async (page) => {
    const { events, nextPageToken } = await webhooks.listEvents({ ...filter, ...page }, call);
    return { rows: events, nextPageToken };
  });
  return shownList(found, ['event', 'type', 'about', 'client', 'occurred'], (event) => [
    event.id,
    event.type,
    event.entityId,
    event.clientId,
    asTime(event.occurredAt),
  ]);
}

export async function show(
  { webhooks, call }: Session,
  [eventId = '']: readonly string[],
  { instanceIntegration }: { instanceIntegration?: string },
): Promise<Shown> {
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
  ]);
  return { json: answer, text: `${facts}\n\nBody\n\n${indented(prettyBody(answer.body))}` };
}
