import { type Changes, type ChangesOptions, changeFrom } from './changes.js';
import { checkSecret, type Fetch, serverUrl } from './exchange.js';
import type { WebhookEvent } from './generated/events.js';
import { ChangesApi } from './generated/gateway/apis/ChangesApi.js';
import { ClientsApi } from './generated/gateway/apis/ClientsApi.js';
import { InstanceIntegrationsApi } from './generated/gateway/apis/InstanceIntegrationsApi.js';
import { JobTitlesApi } from './generated/gateway/apis/JobTitlesApi.js';
import { OrganizationStructureApi } from './generated/gateway/apis/OrganizationStructureApi.js';
import { UsersApi } from './generated/gateway/apis/UsersApi.js';
import { WorkersApi } from './generated/gateway/apis/WorkersApi.js';
import { ChangesDigestFromJSON } from './generated/gateway/models/ChangesDigest.js';
import { InstanceIntegrationFromJSON } from './generated/gateway/models/InstanceIntegration.js';
import { OrganizationStructureFromJSON } from './generated/gateway/models/OrganizationStructure.js';
import { TenantClientFromJSON } from './generated/gateway/models/TenantClient.js';
import { UserFromJSON } from './generated/gateway/models/User.js';
import { WorkerFromJSON } from './generated/gateway/models/Worker.js';
import { WorkerV2FromJSON } from './generated/gateway/models/WorkerV2.js';
import { Configuration } from './generated/gateway/runtime.js';
import { type Linked, linkedParser, pathBelow } from './links.js';
import type {
  ChangesDigest,
  InstanceIntegration,
  OrganizationStructure,
  TenantClient,
  User,
  Worker,
  WorkerV2,
} from './models.js';
import { Paged } from './paged.js';
import {
  type AnyReadOptions,
  type ConditionalReadOptions,
  type Parse,
  type Prepare,
  Reader,
  type ReaderSettings,
  type Reading,
  type ReadOptions,
} from './reader.js';
import { type RetryOptions, retryPolicy } from './retries.js';
import type { Store } from './stores.js';
import { Sync, type SyncOptions } from './sync.js';

export interface GatewayOptions {
  /** Address of the gateway. */
  baseUrl: string;
  /** `ik_live_…` or `ik_demo_…`. */
  apiKey: string;
  /** For each attempt, including the body of the answer. Default: 30000. */
  timeoutMs?: number | undefined;
  /** `false` disables retries. */
  retry?: RetryOptions | false | undefined;
  /** Replaces the global one: for a proxy, or for your tests. */
  fetch?: Fetch | undefined;
}

export interface PagedOptions extends ReadOptions {
  /** How many to read at once, 1 to 1000. Default: 200. */
  pageSize?: number | undefined;
}

type Eventual<T> = Promise<T | Reading<T>>;

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_PAGE_SIZE = 200;
const MS_PER_SECOND = 1_000;

/**
 * The read API. Reads return the data or, with `ifChanged`, whether it changed since your `etag`. They are
 * retried after 408, 429, 500, 502, 503, 504 and lost connections, and then throw `ApiError`,
 * `ConnectionError` or `TimeoutError`.
 */
export class Gateway {
  readonly #settings: ReaderSettings;
  readonly #reader: Reader;
  readonly #instanceIntegrations: InstanceIntegrationsApi;
  readonly #clients: ClientsApi;
  readonly #workers: WorkersApi;
  readonly #users: UsersApi;
  readonly #jobTitles: JobTitlesApi;
  readonly #structure: OrganizationStructureApi;
  readonly #changes: ChangesApi;

  constructor(options: GatewayOptions) {
    const { apiKey, timeoutMs = DEFAULT_TIMEOUT_MS, fetch } = options;
    checkSecret(apiKey, 'apiKey must be the API key: letters, digits and underscores, no spaces.');
    const baseUrl = serverUrl('baseUrl', options.baseUrl);
    this.#settings = { baseUrl, timeoutMs, fetch, retry: retryPolicy(options.retry) };
    this.#reader = new Reader(this.#settings);
    // The generated clients prepare requests and send none.
    const configuration = new Configuration({ apiKey: () => apiKey });
    this.#instanceIntegrations = new InstanceIntegrationsApi(configuration);
    this.#clients = new ClientsApi(configuration);
    this.#workers = new WorkersApi(configuration);
    this.#users = new UsersApi(configuration);
    this.#jobTitles = new JobTitlesApi(configuration);
    this.#structure = new OrganizationStructureApi(configuration);
    this.#changes = new ChangesApi(configuration);
  }

  /** All connections between your integration and instances. Start here. */
  listInstanceIntegrations(options: ConditionalReadOptions): Promise<Reading<InstanceIntegration[]>>;
  listInstanceIntegrations(options?: ReadOptions): Promise<InstanceIntegration[]>;
  listInstanceIntegrations(options: AnyReadOptions = {}): Eventual<InstanceIntegration[]> {
    return this.#reader.read(
      (headers) => this.#instanceIntegrations.listInstanceIntegrationsRequestOpts(headers),
      listOf(InstanceIntegrationFromJSON),
      options,
    );
  }

  /** All clients of the instance. */
  listClients(
    instanceIntegrationId: string,
    options: ConditionalReadOptions,
  ): Promise<Reading<TenantClient[]>>;
  listClients(instanceIntegrationId: string, options?: ReadOptions): Promise<TenantClient[]>;
  listClients(instanceIntegrationId: string, options: AnyReadOptions = {}): Eventual<TenantClient[]> {
    return this.#reader.read(
      (headers) => this.#clients.listClientsRequestOpts({ instanceIntegrationId, ...headers }),
      listOf(TenantClientFromJSON),
      options,
    );
  }

  getClient(
    instanceIntegrationId: string,
    clientId: string,
    options: ConditionalReadOptions,
  ): Promise<Reading<TenantClient>>;
  getClient(instanceIntegrationId: string, clientId: string, options?: ReadOptions): Promise<TenantClient>;
  getClient(
    instanceIntegrationId: string,
    clientId: string,
    options: AnyReadOptions = {},
  ): Eventual<TenantClient> {
    return this.#reader.read(
      (headers) => this.#clients.getClientRequestOpts({ instanceIntegrationId, clientId, ...headers }),
      TenantClientFromJSON,
      options,
    );
  }

  /** The workers of a client, read page by page: `for await (const worker of gateway.workers(…))`. */
  workers(instanceIntegrationId: string, clientId: string, options: PagedOptions = {}): Paged<WorkerV2> {
    return this.#paged(
      (headers, limit) =>
        this.#workers.listWorkersV2RequestOpts({ instanceIntegrationId, clientId, limit, ...headers }),
      listOf(WorkerV2FromJSON),
      options,
    );
  }

  /** The workers of a client in one answer: with `ifChanged` the cheapest way to stay in sync. */
  listWorkersV2(
    instanceIntegrationId: string,
    clientId: string,
    options: ConditionalReadOptions,
  ): Promise<Reading<WorkerV2[]>>;
  listWorkersV2(instanceIntegrationId: string, clientId: string, options?: ReadOptions): Promise<WorkerV2[]>;
  listWorkersV2(
    instanceIntegrationId: string,
    clientId: string,
    options: AnyReadOptions = {},
  ): Eventual<WorkerV2[]> {
    return this.#reader.read(
      (headers) => this.#workers.listWorkersV2RequestOpts({ instanceIntegrationId, clientId, ...headers }),
      listOf(WorkerV2FromJSON),
      options,
    );
  }

  /** The workers as in version 1, without their place in the organization structure. */
  listWorkers(
    instanceIntegrationId: string,
    clientId: string,
    options: ConditionalReadOptions,
  ): Promise<Reading<Worker[]>>;
  listWorkers(instanceIntegrationId: string, clientId: string, options?: ReadOptions): Promise<Worker[]>;
  listWorkers(
    instanceIntegrationId: string,
    clientId: string,
    options: AnyReadOptions = {},
  ): Eventual<Worker[]> {
    return this.#reader.read(
      (headers) => this.#workers.listWorkersRequestOpts({ instanceIntegrationId, clientId, ...headers }),
      listOf(WorkerFromJSON),
      options,
    );
  }

  /** @deprecated The earlier name of `listWorkers`. */
  readonly listWorkersV1: Gateway['listWorkers'] = this.listWorkers.bind(this) as Gateway['listWorkers'];

  /** One worker, offboarded or not. */
  getWorker(
    instanceIntegrationId: string,
    clientId: string,
    workerId: string,
    options: ConditionalReadOptions,
  ): Promise<Reading<WorkerV2>>;
  getWorker(
    instanceIntegrationId: string,
    clientId: string,
    workerId: string,
    options?: ReadOptions,
  ): Promise<WorkerV2>;
  getWorker(
    instanceIntegrationId: string,
    clientId: string,
    workerId: string,
    options: AnyReadOptions = {},
  ): Eventual<WorkerV2> {
    const ids = { instanceIntegrationId, clientId, workerId };
    return this.#reader.read(
      (headers) => this.#workers.getWorkerV2RequestOpts({ ...ids, ...headers }),
      WorkerV2FromJSON,
      options,
    );
  }

  /** The users of a client, read page by page. */
  users(instanceIntegrationId: string, clientId: string, options: PagedOptions = {}): Paged<User> {
    return this.#paged(
      (headers, limit) =>
        this.#users.listUsersRequestOpts({ instanceIntegrationId, clientId, limit, ...headers }),
      listOf<User>(UserFromJSON),
      options,
    );
  }

  /** The users of a client in one answer. */
  listUsers(
    instanceIntegrationId: string,
    clientId: string,
    options: ConditionalReadOptions,
  ): Promise<Reading<User[]>>;
  listUsers(instanceIntegrationId: string, clientId: string, options?: ReadOptions): Promise<User[]>;
  listUsers(instanceIntegrationId: string, clientId: string, options: AnyReadOptions = {}): Eventual<User[]> {
    return this.#reader.read(
      (headers) => this.#users.listUsersRequestOpts({ instanceIntegrationId, clientId, ...headers }),
      listOf<User>(UserFromJSON),
      options,
    );
  }

  /** One user, in any status. */
  getUser(
    instanceIntegrationId: string,
    clientId: string,
    userId: string,
    options: ConditionalReadOptions,
  ): Promise<Reading<User>>;
  getUser(
    instanceIntegrationId: string,
    clientId: string,
    userId: string,
    options?: ReadOptions,
  ): Promise<User>;
  getUser(
    instanceIntegrationId: string,
    clientId: string,
    userId: string,
    options: AnyReadOptions = {},
  ): Eventual<User> {
    const ids = { instanceIntegrationId, clientId, userId };
    return this.#reader.read<User>(
      (headers) => this.#users.getUserRequestOpts({ ...ids, ...headers }),
      UserFromJSON,
      options,
    );
  }

  /** The job titles that a client uses. */
  jobTitles(
    instanceIntegrationId: string,
    clientId: string,
    options: ConditionalReadOptions,
  ): Promise<Reading<string[]>>;
  jobTitles(instanceIntegrationId: string, clientId: string, options?: ReadOptions): Promise<string[]>;
  jobTitles(
    instanceIntegrationId: string,
    clientId: string,
    options: AnyReadOptions = {},
  ): Eventual<string[]> {
    return this.#reader.read(
      (headers) => this.#jobTitles.listJobTitlesRequestOpts({ instanceIntegrationId, clientId, ...headers }),
      listOf(String),
      options,
    );
  }

  /** The layers, units and locations of a client. */
  organizationStructure(
    instanceIntegrationId: string,
    clientId: string,
    options: ConditionalReadOptions,
  ): Promise<Reading<OrganizationStructure>>;
  organizationStructure(
    instanceIntegrationId: string,
    clientId: string,
    options?: ReadOptions,
  ): Promise<OrganizationStructure>;
  organizationStructure(
    instanceIntegrationId: string,
    clientId: string,
    options: AnyReadOptions = {},
  ): Eventual<OrganizationStructure> {
    const ids = { instanceIntegrationId, clientId };
    return this.#reader.read(
      (headers) => this.#structure.getOrganizationStructureRequestOpts({ ...ids, ...headers }),
      OrganizationStructureFromJSON,
      options,
    );
  }

  /**
   * What the gateway shows of the instance, as one sequence: each entity once, at the place of its newest
   * change. Begins with all that exists; with the `cursor` you stored it continues with what changed since.
   * An `ApiError` with the code `cursor_expired` (410) means: begin again without `after`.
   */
  async listChanges(instanceIntegrationId: string, options: ChangesOptions = {}): Promise<Changes> {
    const { after, limit, waitSeconds: wait = 0 } = options;
    const query = {
      ...(after && { after }),
      ...(limit !== undefined && { limit }),
      ...(wait > 0 && { wait }),
    };
    const timeoutMs = (options.timeoutMs ?? this.#settings.timeoutMs) + wait * MS_PER_SECOND;
    const { items, next } = await this.#reader.readPage(
      (headers) => this.#changes.listChangesRequestOpts({ instanceIntegrationId, ...query, ...headers }),
      listOf(changeFrom),
      { ...options, timeoutMs },
      null,
    );
    return { items, cursor: items.at(-1)?.cursor ?? after ?? null, hasMore: next !== null };
  }

  /** Counts and digests of a client's entities: a copy with the same ones is equal. */
  getChangesDigest(
    instanceIntegrationId: string,
    clientId: string,
    options: ConditionalReadOptions,
  ): Promise<Reading<ChangesDigest>>;
  getChangesDigest(
    instanceIntegrationId: string,
    clientId: string,
    options?: ReadOptions,
  ): Promise<ChangesDigest>;
  getChangesDigest(
    instanceIntegrationId: string,
    clientId: string,
    options: AnyReadOptions = {},
  ): Eventual<ChangesDigest> {
    return this.#reader.read(
      (headers) => this.#changes.getChangesDigestRequestOpts({ instanceIntegrationId, clientId, ...headers }),
      ChangesDigestFromJSON,
      options,
    );
  }

  /** Keeps a copy of the instance in a store: `await gateway.sync(id, store).run()`. */
  sync(instanceIntegrationId: string, store: Store, options: SyncOptions = {}): Sync {
    return new Sync(this, instanceIntegrationId, store, options, this.#settings.retry);
  }

  /**
   * Reads the present state of an event's subject, by its `links.self`. For a link without its event it
   * returns the raw JSON. Refuses links outside the gateway, so that the API key goes nowhere else.
   */
  follow<Event extends WebhookEvent>(
    event: Event,
    options: ConditionalReadOptions,
  ): Promise<Reading<Linked<Event>>>;
  follow<Event extends WebhookEvent>(event: Event, options?: ReadOptions): Promise<Linked<Event>>;
  follow(link: string, options: ConditionalReadOptions): Promise<Reading<unknown>>;
  follow(link: string, options?: ReadOptions): Promise<unknown>;
  async follow(from: WebhookEvent | string, options: AnyReadOptions = {}): Eventual<unknown> {
    const path = pathBelow(this.#settings.baseUrl, from);
    return this.#reader.read(
      async (headers) => ({
        ...(await this.#instanceIntegrations.listInstanceIntegrationsRequestOpts(headers)),
        path,
      }),
      linkedParser(from),
      options,
    );
  }

  #paged<T>(
    prepare: (headers: Parameters<Prepare>[0], limit: number) => ReturnType<Prepare>,
    parse: Parse<T[]>,
    options: PagedOptions,
  ): Paged<T> {
    const limit = options.pageSize ?? DEFAULT_PAGE_SIZE;
    return new Paged((address) =>
      this.#reader.readPage((headers) => prepare(headers, limit), parse, options, address),
    );
  }
}

function listOf<T>(parse: Parse<T>): Parse<T[]> {
  return (json) => {
    if (!Array.isArray(json)) {
      throw new TypeError('The answer is not a list.');
    }
    return json.map((item) => parse(item));
  };
}
