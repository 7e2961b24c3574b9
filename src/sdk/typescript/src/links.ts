import type { WebhookEvent } from './generated/events.js';
import { ClientFromJSON } from './generated/gateway/models/Client.js';
import { OrganizationStructureFromJSON } from './generated/gateway/models/OrganizationStructure.js';
import { UserFromJSON } from './generated/gateway/models/User.js';
import { WorkerV2FromJSON } from './generated/gateway/models/WorkerV2.js';
import type { Client, OrganizationStructure, User, WorkerV2 } from './models.js';
import type { Parse } from './reader.js';

/** Where `links.self` of an event leads, by the kind of thing that the event is about. */
interface LinkedByEntity {
  client: Client;
  user: User;
  worker: WorkerV2;
  organizationUnit: OrganizationStructure;
  organizationUnitType: OrganizationStructure;
  organizationLocation: OrganizationStructure;
}

/** The record that `links.self` of such an event leads to. */
export type Linked<Event extends WebhookEvent> = LinkedByEntity[Event['entity']['type']];

const PARSERS: { [Entity in keyof LinkedByEntity]: Parse<LinkedByEntity[Entity]> } = {
  client: ClientFromJSON,
  user: UserFromJSON,
  worker: WorkerV2FromJSON,
  organizationUnit: OrganizationStructureFromJSON,
  organizationUnitType: OrganizationStructureFromJSON,
  organizationLocation: OrganizationStructureFromJSON,
};

/** Plain segments only: nothing that a program could take for another server, or for a way out of the base URL. */
const PATH = /^(?:\/[\w~-][\w.~-]*)+(?:\?[\w.~%&=+-]*)?$/;

/** What is at the end of a link, as the record it should be; as it came where only the link is known. */
export function linkedParser(from: WebhookEvent | string): Parse<unknown> {
  return typeof from === 'string' ? (json) => json : PARSERS[from.entity.type];
}

/** The path below the base URL; throws where the link leads anywhere else, which must not get the API key. */
export function pathBelow(baseUrl: string, from: WebhookEvent | string): string {
  const link = typeof from === 'string' ? from : from.data.links.self;
  const path = link.startsWith(`${baseUrl}/`) ? link.slice(baseUrl.length) : link;
  if (!PATH.test(path)) {
    throw new TypeError('The link must be a path of the gateway, or an address below its base URL.');
  }
  return path;
}
