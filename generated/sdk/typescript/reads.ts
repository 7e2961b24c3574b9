// Made by `make generate` from the contracts. Do not edit.
import { ChangesApi } from './gateway/apis/ChangesApi.js';
import { ClientsApi } from './gateway/apis/ClientsApi.js';
import { InstanceIntegrationsApi } from './gateway/apis/InstanceIntegrationsApi.js';
import { JobTitlesApi } from './gateway/apis/JobTitlesApi.js';
import { OrganizationStructureApi } from './gateway/apis/OrganizationStructureApi.js';
import { UsersApi } from './gateway/apis/UsersApi.js';
import { WorkersApi } from './gateway/apis/WorkersApi.js';
import { ChangesDigestFromJSON } from './gateway/models/ChangesDigest.js';
import { InstanceIntegrationFromJSON } from './gateway/models/InstanceIntegration.js';
import { OrganizationStructureFromJSON } from './gateway/models/OrganizationStructure.js';
import { TenantClientFromJSON } from './gateway/models/TenantClient.js';
import { UserFromJSON } from './gateway/models/User.js';
import { WorkerFromJSON } from './gateway/models/Worker.js';
import { WorkerV2FromJSON } from './gateway/models/WorkerV2.js';
import type { Configuration } from './gateway/runtime.js';
import type { ChangesDigest, InstanceIntegration, OrganizationStructure, TenantClient, User, Worker, WorkerV2 } from '../models.js';
import type { Paged } from '../paged.js';
import type { AnyReadOptions, ConditionalReadOptions, PagedOptions, Reader, Reading, ReadOptions } from '../reader.js';

/** The reads of the gateway. The generated clients prepare requests and send none. */
export class Reads {
  readonly #reader: Reader;
  readonly #changes: ChangesApi;
  readonly #clients: ClientsApi;
  readonly #instanceIntegrations: InstanceIntegrationsApi;
  readonly #jobTitles: JobTitlesApi;
  readonly #organizationStructure: OrganizationStructureApi;
  readonly #users: UsersApi;
  readonly #workers: WorkersApi;

  constructor(reader: Reader, configuration: Configuration) {
    this.#reader = reader;
    this.#changes = new ChangesApi(configuration);
    this.#clients = new ClientsApi(configuration);
    this.#instanceIntegrations = new InstanceIntegrationsApi(configuration);
    this.#jobTitles = new JobTitlesApi(configuration);
    this.#organizationStructure = new OrganizationStructureApi(configuration);
    this.#users = new UsersApi(configuration);
    this.#workers = new WorkersApi(configuration);
  }

  /** All connections between your integration and instances. Start here. */
  listInstanceIntegrations(options: ConditionalReadOptions): Promise<Reading<InstanceIntegration[]>>;
  listInstanceIntegrations(options?: ReadOptions): Promise<InstanceIntegration[]>;
  listInstanceIntegrations(options: AnyReadOptions = {}): Promise<InstanceIntegration[] | Reading<InstanceIntegration[]>> {
    return this.#reader.readList<InstanceIntegration>((asked) => this.#instanceIntegrations.listInstanceIntegrationsRequestOpts({ ...asked }), InstanceIntegrationFromJSON, options);
  }

  /** All clients of the instance. */
  listClients(instanceIntegrationId: string, options: ConditionalReadOptions): Promise<Reading<TenantClient[]>>;
  listClients(instanceIntegrationId: string, options?: ReadOptions): Promise<TenantClient[]>;
  listClients(instanceIntegrationId: string, options: AnyReadOptions = {}): Promise<TenantClient[] | Reading<TenantClient[]>> {
    return this.#reader.readList<TenantClient>((asked) => this.#clients.listClientsRequestOpts({ instanceIntegrationId, ...asked }), TenantClientFromJSON, options);
  }

  /** One client of the instance. */
  getClient(instanceIntegrationId: string, clientId: string, options: ConditionalReadOptions): Promise<Reading<TenantClient>>;
  getClient(instanceIntegrationId: string, clientId: string, options?: ReadOptions): Promise<TenantClient>;
  getClient(instanceIntegrationId: string, clientId: string, options: AnyReadOptions = {}): Promise<TenantClient | Reading<TenantClient>> {
    return this.#reader.read<TenantClient>((asked) => this.#clients.getClientRequestOpts({ instanceIntegrationId, clientId, ...asked }), TenantClientFromJSON, options);
  }

  /** The workers who are not offboarded, as in version 1: without their place in the organization structure. */
  listWorkers(instanceIntegrationId: string, clientId: string, options: ConditionalReadOptions): Promise<Reading<Worker[]>>;
  listWorkers(instanceIntegrationId: string, clientId: string, options?: ReadOptions): Promise<Worker[]>;
  listWorkers(instanceIntegrationId: string, clientId: string, options: AnyReadOptions = {}): Promise<Worker[] | Reading<Worker[]>> {
    return this.#reader.readList<Worker>((asked) => this.#workers.listWorkersRequestOpts({ instanceIntegrationId, clientId, ...asked }), WorkerFromJSON, options);
  }

  /** The job titles of the client, each once, also those that no worker has now. */
  jobTitles(instanceIntegrationId: string, clientId: string, options: ConditionalReadOptions): Promise<Reading<string[]>>;
  jobTitles(instanceIntegrationId: string, clientId: string, options?: ReadOptions): Promise<string[]>;
  jobTitles(instanceIntegrationId: string, clientId: string, options: AnyReadOptions = {}): Promise<string[] | Reading<string[]>> {
    return this.#reader.readList<string>((asked) => this.#jobTitles.listJobTitlesRequestOpts({ instanceIntegrationId, clientId, ...asked }), String, options);
  }

  /** The layers, units and locations of the client in one object. */
  organizationStructure(instanceIntegrationId: string, clientId: string, options: ConditionalReadOptions): Promise<Reading<OrganizationStructure>>;
  organizationStructure(instanceIntegrationId: string, clientId: string, options?: ReadOptions): Promise<OrganizationStructure>;
  organizationStructure(instanceIntegrationId: string, clientId: string, options: AnyReadOptions = {}): Promise<OrganizationStructure | Reading<OrganizationStructure>> {
    return this.#reader.read<OrganizationStructure>((asked) => this.#organizationStructure.getOrganizationStructureRequestOpts({ instanceIntegrationId, clientId, ...asked }), OrganizationStructureFromJSON, options);
  }

  /** All users of the client except deleted ones. */
  listUsers(instanceIntegrationId: string, clientId: string, options: ConditionalReadOptions): Promise<Reading<User[]>>;
  listUsers(instanceIntegrationId: string, clientId: string, options?: ReadOptions): Promise<User[]>;
  listUsers(instanceIntegrationId: string, clientId: string, options: AnyReadOptions = {}): Promise<User[] | Reading<User[]>> {
    return this.#reader.readList<User>((asked) => this.#users.listUsersRequestOpts({ instanceIntegrationId, clientId, ...asked }), UserFromJSON, options);
  }

  /** The users of a client, read page by page: `for await (const user of gateway.users(…))`. */
  users(instanceIntegrationId: string, clientId: string, options: PagedOptions = {}): Paged<User> {
    return this.#reader.pages<User>((asked) => this.#users.listUsersRequestOpts({ instanceIntegrationId, clientId, ...asked }), UserFromJSON, options);
  }

  /** One user of the client, in any status. */
  getUser(instanceIntegrationId: string, clientId: string, userId: string, options: ConditionalReadOptions): Promise<Reading<User>>;
  getUser(instanceIntegrationId: string, clientId: string, userId: string, options?: ReadOptions): Promise<User>;
  getUser(instanceIntegrationId: string, clientId: string, userId: string, options: AnyReadOptions = {}): Promise<User | Reading<User>> {
    return this.#reader.read<User>((asked) => this.#users.getUserRequestOpts({ instanceIntegrationId, clientId, userId, ...asked }), UserFromJSON, options);
  }

  /** The workers of a client in one answer: with `ifChanged` the cheapest way to stay in sync. */
  listWorkersV2(instanceIntegrationId: string, clientId: string, options: ConditionalReadOptions): Promise<Reading<WorkerV2[]>>;
  listWorkersV2(instanceIntegrationId: string, clientId: string, options?: ReadOptions): Promise<WorkerV2[]>;
  listWorkersV2(instanceIntegrationId: string, clientId: string, options: AnyReadOptions = {}): Promise<WorkerV2[] | Reading<WorkerV2[]>> {
    return this.#reader.readList<WorkerV2>((asked) => this.#workers.listWorkersV2RequestOpts({ instanceIntegrationId, clientId, ...asked }), WorkerV2FromJSON, options);
  }

  /** The workers of a client, read page by page: `for await (const worker of gateway.workers(…))`. */
  workers(instanceIntegrationId: string, clientId: string, options: PagedOptions = {}): Paged<WorkerV2> {
    return this.#reader.pages<WorkerV2>((asked) => this.#workers.listWorkersV2RequestOpts({ instanceIntegrationId, clientId, ...asked }), WorkerV2FromJSON, options);
  }

  /** One worker of the client, offboarded or not. */
  getWorker(instanceIntegrationId: string, clientId: string, workerId: string, options: ConditionalReadOptions): Promise<Reading<WorkerV2>>;
  getWorker(instanceIntegrationId: string, clientId: string, workerId: string, options?: ReadOptions): Promise<WorkerV2>;
  getWorker(instanceIntegrationId: string, clientId: string, workerId: string, options: AnyReadOptions = {}): Promise<WorkerV2 | Reading<WorkerV2>> {
    return this.#reader.read<WorkerV2>((asked) => this.#workers.getWorkerV2RequestOpts({ instanceIntegrationId, clientId, workerId, ...asked }), WorkerV2FromJSON, options);
  }

  /** Counts and digests of the entities of a client: a copy with the same ones is equal. */
  getChangesDigest(instanceIntegrationId: string, clientId: string, options: ConditionalReadOptions): Promise<Reading<ChangesDigest>>;
  getChangesDigest(instanceIntegrationId: string, clientId: string, options?: ReadOptions): Promise<ChangesDigest>;
  getChangesDigest(instanceIntegrationId: string, clientId: string, options: AnyReadOptions = {}): Promise<ChangesDigest | Reading<ChangesDigest>> {
    return this.#reader.read<ChangesDigest>((asked) => this.#changes.getChangesDigestRequestOpts({ instanceIntegrationId, clientId, ...asked }), ChangesDigestFromJSON, options);
  }
}
