import {
  type DirectoryServiceService,
  type ReadContext,
  type ReadHeader,
  UserStatus,
} from '../../../generated/proto/integration/directory/v1/directory.js';
import type { BodyOf, OperationId, Schemas } from '../../domain/directory/contract-json.js';
import type { Answer, AnyPages, Question } from '../../domain/directory/reads.js';
import type { Handlers } from '../handlers.js';

type ReadPages = (answer: Answer<string | AnyPages>, signal: AbortSignal) => AnyPages;
type Request = { context?: ReadContext };

/** Asks for an operation by its id: a newer edge may know more of them. */
export type Ask = (
  operationId: string,
  context: (ReadContext & Pick<Question, 'isCounted' | 'isOver'>) | undefined,
  target: object,
) => Promise<Answer<string | AnyPages>>;

/** The methods that edges of release 1.3.1 call: the same reads, as messages of gRPC. */
export function earlierMethods(
  ask: Ask,
  readPages: ReadPages,
  onShortCall: () => void,
): Handlers<typeof DirectoryServiceService> {
  async function one<Id extends OperationId>(id: Id, { context, ...target }: Request) {
    try {
      const answer = await ask(id, context, target);
      const { content } = answer;
      const value = content === undefined ? undefined : (JSON.parse(content as string) as BodyOf<Id>);
      return { header: headerOf(answer), value };
    } finally {
      onShortCall();
    }
  }
  async function* list<Id extends OperationId>(id: Id, { context, ...target }: Request, signal: AbortSignal) {
    type Row = BodyOf<Id> extends (infer Item)[] ? Item : never;
    const answer = await ask(id, context, target);
    let header: ReadHeader | undefined = headerOf(answer);
    for await (const { rows, nextCursor, isLast } of readPages(answer, signal)) {
      if (header && isLast) {
        onShortCall();
      }
      yield { header, rows: rows.map(({ json }) => JSON.parse(json) as Row), nextCursor };
      header = undefined;
    }
    if (header) {
      yield { header, rows: [] as Row[], nextCursor: undefined };
    }
  }

  return {
    listInstanceIntegrations: async (request) => {
      const { header, value = [] } = await one('listInstanceIntegrations', request);
      return { header, instanceIntegrations: value.map(withTimes) };
    },
    listClients: async function* (request, { signal }) {
      for await (const { header, rows } of list('listClients', request, signal)) {
        yield { header, clients: rows };
      }
    },
    getClient: async (request) => {
      const { header, value } = await one('getClient', request);
      return { header, client: value };
    },
    listWorkers: async function* (request, { signal }) {
      const pages = request.withOrganization
        ? list('listWorkersV2', request, signal)
        : list('listWorkers', request, signal);
      for await (const { header, rows, nextCursor } of pages) {
        yield { header, workers: rows.map((row) => ({ organizationUnits: [], ...row })), nextCursor };
      }
    },
    getWorker: async (request) => {
      const { header, value } = await one('getWorkerV2', request);
      return { header, worker: value };
    },
    listUsers: async function* (request, { signal }) {
      for await (const { header, rows, nextCursor } of list('listUsers', request, signal)) {
        yield { header, users: rows.map(toUser), nextCursor };
      }
    },
    getUser: async (request) => {
      const { header, value } = await one('getUser', request);
      return { header, user: value && toUser(value) };
    },
    listJobTitles: async (request) => {
      const { header, value = [] } = await one('listJobTitles', request);
      return { header, jobTitles: value };
    },
    getOrganizationStructure: async (request) => {
      const { header, value } = await one('getOrganizationStructure', request);
      return { header, organizationStructure: value && { ...value, unitTypes: value.unitsTypes } };
    },
  };
}

export function headerOf({ visitor, content }: Answer<unknown>): ReadHeader {
  return { ...visitor, notModified: content === undefined };
}

function withTimes(row: Schemas['InstanceIntegration']) {
  return { ...row, createdAt: new Date(row.createdAt), updatedAt: new Date(row.updatedAt) };
}

function toUser(row: Schemas['User']) {
  return { ...row, status: UserStatus[row.status], createdAt: new Date(row.createdAt) };
}
