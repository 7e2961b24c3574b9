import type { EventId } from '../../../../generated/ids.js';
import { ErrorCode, existing, ServiceError } from '../../../errors/service-error.js';
import type { InstanceIntegrationRows } from '../../operator/rows/integrations.js';
import { eventBody, type StoredEvent } from '../event-body.js';
import type { LogFilter, LogPage, LogPageRequest, LogPosition } from './page.js';

/** An event with its place in the log, without payload. */
export type LoggedEvent = Omit<StoredEvent, 'data'> & { seq: number };

export interface EventFilter extends LogFilter {
  instanceId?: string;
  clientId?: string;
  entityId?: string;
}

export interface EventLogRows {
  /** Newest first, without test events. */
  page(page: LogPageRequest, filter: EventFilter): Promise<LogPage<LoggedEvent>>;
  find(id: string): Promise<(StoredEvent & LoggedEvent) | undefined>;
  /** Events of all instances after a position and before a time, oldest first, without test events. */
  following(after: LogPosition, until: number, limit: number): Promise<LoggedEvent[]>;
  /** The existing events of these, which then stay until the transaction ends. */
  keep(ids: readonly EventId[]): Promise<Set<EventId>>;
}

/** An event and its body: as its receiver gets it, if one is named, else without links. */
export async function getEvent(
  rows: { eventLog: EventLogRows; instanceIntegrations: InstanceIntegrationRows },
  id: string,
  receiverId: string | undefined,
): Promise<{ event: LoggedEvent; body: string }> {
  const event = existing(await rows.eventLog.find(id), ErrorCode.EVENT_NOT_FOUND, 'event');
  if (receiverId === undefined) {
    return { event, body: bodyWithoutLinks(event) };
  }
  const receiver = await rows.instanceIntegrations.find(receiverId);
  if (!receiver || receiver.instanceId !== event.instanceId) {
    throw new ServiceError(
      ErrorCode.INSTANCE_INTEGRATION_NOT_FOUND,
      'There is no such instance integration on the instance of the event.',
    );
  }
  return { event, body: eventBody(event, receiver.id) };
}

function bodyWithoutLinks(event: StoredEvent): string {
  const { data, ...envelope } = JSON.parse(eventBody(event, 'iin_'));
  const { links, ...payload } = data;
  return JSON.stringify({ ...envelope, data: payload });
}
