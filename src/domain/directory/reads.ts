import { createHash } from 'node:crypto';
import type {
  ClientId,
  InstanceId,
  InstanceIntegrationId,
  UserId,
  WorkerId,
} from '../../../generated/ids.js';
import { CallerLeft } from '../../errors/service-error.js';
import { AtOnce } from '../../fairness/at-once.js';
import {
  type ClientVisitor,
  contractRefusal,
  type Gatekeeper,
  type InstanceVisitor,
  type PresentedKey,
  type Visitor,
} from '../access/gatekeeper.js';
import { ListSlots } from '../access/list-slots.js';
import { type ChangeCursors, digestOf, sequenceOf } from './changes.js';
import type { BodyOf, JsonOf, OperationId } from './contract-json.js';
import {
  FIRST_PAGE_BYTES,
  type Page,
  type PageRequest,
  type Position,
  pagesOf,
  type Window,
} from './page.js';
import { type LinkedOperation, sampleOf } from './samples.js';
import type { ChangeStore, DirectoryStores, InstanceIntegrationStore, Listed, Nearest } from './stores.js';

export interface DirectoryDependencies extends DirectoryStores {
  gatekeeper: Gatekeeper;
  instanceIntegrations: InstanceIntegrationStore;
  changes: ChangeStore;
  cursors: ChangeCursors;
  /** Undefined without a replica. */
  nearest?: Nearest | undefined;
  /** Whether a read blocks the event loop. */
  readsBlock?: boolean;
  /** Aborted when the domain stops, which ends all waits. */
  closing?: AbortSignal;
}

/** The parameters of path and query. The edge has validated them, and that the operation has them. */
export interface Target extends Window {
  instanceIntegrationId: InstanceIntegrationId;
  clientId: ClientId;
  workerId: WorkerId;
  userId: UserId;
}

/** Stands for a large resource, which `ReadRest` reads. It is empty, as no resource is. */
export const LEFT_TO_REST = '';

/** What a caller sends with a read: its key, and the versions of the answer that it has. */
export interface Question extends PresentedKey {
  knownVersions: readonly string[];
  anyVersionKnown: boolean;
  /** Whether the caller has left, or waits no longer. */
  isOver?: (() => boolean) | undefined;
  /** Called before a whole resource is read. May refuse the read, or leave it to the rest of the answer. */
  beforeWhole?: ((visitor: Visitor) => typeof LEFT_TO_REST | undefined) | undefined;
}

/** The answer to a read: the admitted caller, and the content unless the caller has its version. */
export interface Answer<T> {
  visitor: Visitor;
  /** Absent when not modified. */
  content: T | undefined;
}

/** A list is read page by page, while it is sent. */
export type Pages<T> = AsyncIterable<Page<Listed<T>>>;

type Read<Body> = (
  question: Question,
  target: Target,
) => Promise<Answer<JsonOf<Body> | (Body extends (infer Item)[] ? Pages<Item> : never)>>;

/** The same without its type, for all operations alike. */
export type AnyPages = AsyncIterable<Page<Position & { json: string }>>;
export type AnyRead = (question: Question, target: Target) => Promise<Answer<string | AnyPages>>;

/** Reads of whole resources: structures up to 110 MiB, job titles up to 8. Integrations take turns. */
const WHOLE = { most: 2, perLane: 1 };
/** Where a read blocks the event loop: other calls then have the loop for as long as a long read took. */
const WHOLE_ALONE = { most: 1, rests: true };

/** Each is a call that waits for seconds. Together with all lists, fewer than the calls of a connection. */
const WAITING_DIGESTS = { perIntegration: 8, inTotal: 32 };

/** Every operation of the gateway, with the body of its contract. */
type DirectoryReads = { readonly [Id in OperationId]: Read<BodyOf<Id>> };

export function directoryReads(dependencies: DirectoryDependencies): DirectoryReads {
  const { gatekeeper, instanceIntegrations, changes, nearest } = dependencies;
  const { most, ...ofWhole } = dependencies.readsBlock ? WHOLE_ALONE : WHOLE;
  const wholeReads = new AtOnce(most, ofWhole);
  const waitingDigests = new ListSlots(WAITING_DIGESTS, 'digests');

  const toClient = (question: Question, { instanceIntegrationId, clientId }: Target) =>
    gatekeeper.admitToClient(question, instanceIntegrationId, clientId);
  const toInstance = (question: Question, { instanceIntegrationId }: Target) =>
    gatekeeper.admitToInstance(question, instanceIntegrationId);

  /**
   * Reads from the stores that have the visitor's version. The sequence of changes and its digest stay on the
   * primary: the version of a client or instance does not prove which positions are final. Instance
   * integrations stay there too: they are few rows and read rarely.
   */
  const near = <T>(
    visitor: InstanceVisitor | ClientVisitor,
    read: (stores: DirectoryStores) => T | Promise<T>,
  ): T | Promise<T> =>
    nearest === undefined ? read(dependencies) : nearest(subjectOf(visitor), visitor.version).then(read);

  const pages =
    <V extends InstanceVisitor | ClientVisitor, T>(
      operationId: OperationId,
      admit: (question: Question, target: Target) => Promise<V>,
      page: (stores: DirectoryStores, visitor: V, request: PageRequest) => Promise<Listed<T>[]>,
    ) =>
    async (question: Question, target: Target): Promise<Answer<Pages<T>>> => {
      const visitor = await admit(question, target);
      const canWait = () => gatekeeper.lists.areMany(visitor.integrationId);
      const admitAgain = () => admit({ ...question, isCounted: true }, target);
      const list = `${operationId}.${subjectOf(visitor)}`;
      return answer(visitor, question, () =>
        near(visitor, (stores) =>
          readmitted(
            pagesOf(list, (request) => page(stores, visitor, request), target, canWait),
            admitAgain,
          ),
        ),
      );
    };

  /** Links of test events lead to samples, on every instance; `read` answers all else. */
  const orSample =
    <Id extends LinkedOperation>(operationId: Id, read: Read<BodyOf<Id>>): Read<BodyOf<Id>> =>
    async (question, target) => {
      const sample = sampleOf(operationId, target);
      return sample === undefined
        ? read(question, target)
        : answer(await toInstance(question, target), question, () => sample);
    };

  const one = <Id extends LinkedOperation>(
    operationId: Id,
    missing: 'client_not_found' | 'user_not_found' | 'worker_not_found',
    find: (
      stores: DirectoryStores,
      clientId: ClientId,
      target: Target,
    ) => Promise<JsonOf<BodyOf<Id>> | undefined>,
  ) =>
    orSample(operationId, async (question, target) => {
      const visitor = await toClient(question, target);
      const read = () => near(visitor, (stores) => find(stores, visitor.clientId, target));
      return answerOne(visitor, question, read, missing);
    });

  /** After one that is long, others get their turn of the event loop. */
  const whole = <T extends string>(
    question: Question,
    visitor: ClientVisitor,
    read: (stores: DirectoryStores) => Promise<T>,
  ) =>
    answer(visitor, question, async () => {
      const left = question.beforeWhole?.(visitor);
      if (left !== undefined) {
        return left as T;
      }
      // Counts as a list, also while it waits: otherwise one integration's could fill the calls of an edge.
      const release = gatekeeper.lists.hold(visitor);
      try {
        const readInTurn = async () => {
          if (question.isOver?.()) {
            throw new CallerLeft();
          }
          return near(visitor, read);
        };
        const isLong = ({ length }: T) => length > FIRST_PAGE_BYTES;
        return await wholeReads.run(visitor.integrationId, readInTurn, isLong);
      } finally {
        release();
      }
    });

  return {
    listInstanceIntegrations: async (question) => {
      const visitor = await gatekeeper.admit(question);
      return answer(visitor, question, () => instanceIntegrations.listOf(visitor.integrationId));
    },
    listClients: pages('listClients', toInstance, ({ clients }, { instanceId }, request) =>
      clients.page(instanceId, request),
    ),
    getClient: one('getClient', 'client_not_found', ({ clients }, clientId) => clients.find(clientId)),
    listWorkers: pages('listWorkers', toClient, ({ workers }, { clientId }, request) =>
      workers.page(clientId, request),
    ),
    listWorkersV2: pages('listWorkersV2', toClient, ({ workers }, { clientId }, request) =>
      workers.pageV2(clientId, request),
    ),
    getWorkerV2: one('getWorkerV2', 'worker_not_found', ({ workers }, clientId, { workerId }) =>
      workers.findV2(clientId, workerId),
    ),
    listUsers: pages('listUsers', toClient, ({ users }, { clientId }, request) =>
      users.page(clientId, request),
    ),
    getUser: one('getUser', 'user_not_found', ({ users }, clientId, { userId }) =>
      users.find(clientId, userId),
    ),
    listJobTitles: async (question, target) => {
      const visitor = await toClient(question, target);
      return whole(question, visitor, ({ organization }) => organization.jobTitlesOf(visitor.clientId));
    },
    listChanges: async (question, target) => {
      const visitor = await toInstance(question, target);
      const { version, isEmpty, page } = await sequenceOf(dependencies, visitor, target);
      const awaited = isEmpty ? { awaitedInstanceId: visitor.instanceId } : {};
      return answer({ ...visitor, ...awaited, version }, question, () => onePage(page));
    },
    getChangesDigest: async (question, target) => {
      const visitor = await toClient(question, target);
      const digest = await digestOf(changes, visitor, () => waitingDigests.hold(visitor));
      const version = createHash('sha256').update(digest).digest('base64url');
      return answer({ ...visitor, version }, question, () => digest);
    },
    getOrganizationStructure: orSample('getOrganizationStructure', async (question, target) => {
      const visitor = await toClient(question, target);
      return whole(question, visitor, ({ organization }) => organization.structureOf(visitor.clientId));
    }),
  };
}

/** The client or instance whose rows the visitor reads. */
function subjectOf(visitor: InstanceVisitor | ClientVisitor): ClientId | InstanceId {
  return 'clientId' in visitor ? visitor.clientId : visitor.instanceId;
}

/** A slow reader takes minutes, in which its key may be revoked. */
async function* readmitted<T>(pages: Pages<T>, admitAgain: () => Promise<unknown>): Pages<T> {
  for await (const page of pages) {
    yield page;
    if (!page.isLast) {
      await admitAgain();
    }
  }
}

async function* onePage<T>(read: () => Promise<Page<Listed<T>>>): Pages<T> {
  yield await read();
}

/** Reads the content, unless the caller has its version. */
async function answer<T>(
  visitor: Visitor,
  { knownVersions, anyVersionKnown }: Question,
  read: () => T | Promise<T>,
): Promise<Answer<T>> {
  const isKnown = anyVersionKnown || knownVersions.includes(visitor.version);
  return { visitor, content: isKnown ? undefined : await read() };
}

/**
 * The same for one resource. A caller that names the version is answered without a read; `*` matches only a
 * resource that exists, which takes one.
 */
async function answerOne<T>(
  visitor: Visitor,
  question: Question,
  read: () => T | undefined | Promise<T | undefined>,
  missing: Parameters<typeof contractRefusal>[0],
): Promise<Answer<T>> {
  if (question.knownVersions.includes(visitor.version)) {
    return { visitor, content: undefined };
  }
  const content = await read();
  if (content === undefined) {
    throw contractRefusal(missing, visitor);
  }
  return { visitor, content: question.anyVersionKnown ? undefined : content };
}
