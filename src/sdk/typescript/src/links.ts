import type { WebhookEvent } from './generated/events.js';
import { OrganizationStructureFromJSON } from './generated/gateway/models/OrganizationStructure.js';
import { TenantClientFromJSON } from './generated/gateway/models/TenantClient.js';
import { UserFromJSON } from './generated/gateway/models/User.js';
import { WorkerV2FromJSON } from './generated/gateway/models/WorkerV2.js';
import type { User } from './models.js';
import type { Parse } from './reader.js';

/** Of the target of `links.self`, by the kind of the event's subject. */
const PARSERS = {
  client: TenantClientFromJSON,
  user: UserFromJSON as Parse<User>,
  worker: WorkerV2FromJSON,
  organizationUnit: OrganizationStructureFromJSON,
  organizationUnitType: OrganizationStructureFromJSON,
  organizationLocation: OrganizationStructureFromJSON,
};

/** The record at the `links.self` of such an event. */
export type Linked<Event extends WebhookEvent> = ReturnType<(typeof PARSERS)[Event['entity']['type']]>;

/** Plain segments only: nothing that could be read as another server, or a way out of the base URL. */
const PATH = /^(?:\/[\w~-][\w.~-]*)+(?:\?[\w.~%&=+-]*)?$/;

/** Parses the target of a link as its record; raw JSON where only the link is known. */
export function linkedParser(from: WebhookEvent | string): Parse<unknown> {
  return typeof from === 'string' ? (json) => json : (PARSERS[from.entity.type] ?? ((json) => json));
}

/** The path below the base URL; throws for any other target, which must not get the API key. */
export function pathBelow(baseUrl: string, from: WebhookEvent | string): string {
  const link = typeof from === 'string' ? from : from.data.links.self;
  const path = link.startsWith(`${baseUrl}/`) ? link.slice(baseUrl.length) : link;
  if (!PATH.test(path)) {
    throw new TypeError('The link must be a path of the gateway, or an address below its base URL.');
  }
  return path;
}
