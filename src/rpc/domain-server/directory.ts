import type { ClientId, InstanceIntegrationId, UserId, WorkerId } from '../../../generated/ids.js';
import {
  DirectoryServiceService,
  type ReadContext,
  type ReadHeader,
} from '../../../generated/proto/integration/directory/v1/directory.js';
import type { Gatekeeper } from '../../domain/access/gatekeeper.js';
import type { Answer, ListAnswer, Question } from '../../domain/directory/answer.js';
import { type ClientStore, getClient, listClients } from '../../domain/directory/clients.js';
import {
  type InstanceIntegrationStore,
  listInstanceIntegrations,
} from '../../domain/directory/instance-integrations.js';
import {
  getOrganizationStructure,
  listJobTitles,
  type OrganizationStore,
} from '../../domain/directory/organization.js';
import { getUser, listUsers, type UserStore } from '../../domain/directory/users.js';
import { getWorker, listWorkers, type WorkerStore } from '../../domain/directory/workers.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { serve } from '../handlers.js';
import { PageTurns } from '../streams/page-turns.js';
import { toInstanceIntegration, toUser } from './directory-messages.js';

export interface DirectoryDependencies {
  gatekeeper: Gatekeeper;
  instanceIntegrations: InstanceIntegrationStore;
  clients: ClientStore;
  workers: WorkerStore;
  users: UserStore;
  organization: OrganizationStore;
}

export function directoryService(dependencies: DirectoryDependencies, turns = new PageTurns()) {
  const { gatekeeper, instanceIntegrations, clients, workers, users, organization } = dependencies;
  return serve(DirectoryServiceService, {
    listInstanceIntegrations: async ({ context }) => {
      const answer = await listInstanceIntegrations(gatekeeper, instanceIntegrations, asked(context));
      return {
        header: toHeader(answer),
        instanceIntegrations: (answer.content ?? []).map(toInstanceIntegration),
      };
    },

    listClients: async function* ({ context, ...path }, { signal }) {
      const answer = await listClients(gatekeeper, clients, asked(context), instanceIntegrationOf(path));
      for await (const { header, rows } of pages(gatekeeper, turns, answer, signal)) {
        yield { header, clients: rows };
      }
    },

    getClient: async ({ context, ...path }) => {
      const answer = await getClient(
        gatekeeper,
        clients,
        asked(context),
        instanceIntegrationOf(path),
        clientOf(path),
      );
      return { header: toHeader(answer), client: answer.content };
    },

    listWorkers: async function* ({ context, limit, cursor, withOrganization, ...path }, { signal }) {
      const window = { limit, cursor, withOrganization };
      const answer = await listWorkers(
        gatekeeper,
        workers,
        asked(context),
        instanceIntegrationOf(path),
        clientOf(path),
        window,
      );
      for await (const { header, rows, nextCursor } of pages(gatekeeper, turns, answer, signal)) {
        yield { header, workers: rows, nextCursor };
      }
    },

    getWorker: async ({ context, workerId, ...path }) => {
      const id = workerId as WorkerId;
      const answer = await getWorker(
        gatekeeper,
        workers,
        asked(context),
        instanceIntegrationOf(path),
        clientOf(path),
        id,
      );
      return { header: toHeader(answer), worker: answer.content };
    },

    listUsers: async function* ({ context, limit, cursor, ...path }, { signal }) {
      const window = { limit, cursor };
      const answer = await listUsers(
        gatekeeper,
        users,
        asked(context),
        instanceIntegrationOf(path),
        clientOf(path),
        window,
      );
      for await (const { header, rows, nextCursor } of pages(gatekeeper, turns, answer, signal)) {
        yield { header, users: rows.map(toUser), nextCursor };
      }
    },

    getUser: async ({ context, userId, ...path }) => {
      const id = userId as UserId;
      const answer = await getUser(
        gatekeeper,
        users,
        asked(context),
        instanceIntegrationOf(path),
        clientOf(path),
        id,
      );
      return { header: toHeader(answer), user: answer.content && toUser(answer.content) };
    },

    listJobTitles: async ({ context, ...path }) => {
      const answer = await listJobTitles(
        gatekeeper,
        organization,
        asked(context),
        instanceIntegrationOf(path),
        clientOf(path),
      );
      return { header: toHeader(answer), jobTitles: answer.content ?? [] };
    },

    getOrganizationStructure: async ({ context, ...path }) => {
      const where = [instanceIntegrationOf(path), clientOf(path)] as const;
      const answer = await getOrganizationStructure(gatekeeper, organization, asked(context), ...where);
      return { header: toHeader(answer), organizationStructure: answer.content };
    },
  });
}

function asked(context: ReadContext | undefined): Question {
  if (!context) {
    throw new ServiceError(ErrorCode.INVALID_REQUEST, 'The context is missing.');
  }
  return {
    keyHash: context.apiKeyHash,
    remoteAddress: context.remoteAddress,
    known: { values: context.knownVersions, any: context.anyVersionKnown },
  };
}

/** The edge has validated the ids. */
function instanceIntegrationOf(path: { instanceIntegrationId: string }): InstanceIntegrationId {
  return path.instanceIntegrationId as InstanceIntegrationId;
}

function clientOf(path: { clientId: string }): ClientId {
  return path.clientId as ClientId;
}

function toHeader({ visitor, content }: Answer<unknown>): ReadHeader {
  const { version, rateLimit, integrationId, apiKeyId } = visitor;
  return { version, notModified: content === undefined, rateLimit, integrationId, apiKeyId };
}

interface SentPage<T> {
  header: ReadHeader | undefined;
  rows: T[];
  nextCursor: string | undefined;
}

/** Sends the header with the first page. The list counts until its call ends, when the peer has taken it. */
async function* pages<T>(
  gatekeeper: Gatekeeper,
  turns: PageTurns,
  answer: ListAnswer<T>,
  signal: AbortSignal,
): AsyncGenerator<SentPage<T>> {
  let header: ReadHeader | undefined = toHeader(answer);
  if (!answer.content) {
    yield { header, rows: [], nextCursor: undefined };
    return;
  }
  // Before anything is awaited, so that an excess list is refused at once.
  gatekeeper.beginList(answer.visitor, signal);
  const content = answer.content[Symbol.asyncIterator]();
  const { integrationId } = answer.visitor;
  const next = async () => (signal.aborted ? undefined : await content.next());
  let page = await turns.make({ integrationId, canWait: false }, next);
  if (page?.value?.isLast) {
    turns.shortCall();
  }
  while (page && !page.done) {
    const { rows, nextCursor, isLast } = page.value;
    yield { header, rows, nextCursor };
    header = undefined;
    const canWait = gatekeeper.readsManyLists(answer.visitor);
    page = isLast ? undefined : await turns.make({ integrationId, canWait }, next);
  }
}
