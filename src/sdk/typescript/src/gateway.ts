import { type Changes, type ChangesOptions, changeFrom } from './changes.js';
import { checkSecret, type Fetch, serverUrl } from './exchange.js';
import type { WebhookEvent } from './generated/events.js';
import { ChangesApi } from './generated/gateway/apis/ChangesApi.js';
import { InstanceIntegrationsApi } from './generated/gateway/apis/InstanceIntegrationsApi.js';
import { Configuration } from './generated/gateway/runtime.js';
import { Reads } from './generated/reads.js';
import { type Linked, linkedParser, pathBelow } from './links.js';
import {
  type AnyReadOptions,
  type ConditionalReadOptions,
  Reader,
  type ReaderSettings,
  type Reading,
  type ReadOptions,
} from './reader.js';
import { checkNumbers, type RetryOptions, retryPolicy, timeLimit } from './retries.js';
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
  /** Also sends the API key to `http://` beyond this machine, where others can read it. */
  allowInsecureHttp?: boolean | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const MS_PER_SECOND = 1_000;

/**
 * The read API. Reads return the data or, with `ifChanged`, whether it changed since your `etag`. They are
 * retried after 408, 429, 500, 502, 503, 504 and lost connections, and then throw `ApiError`,
 * `ConnectionError` or `TimeoutError`.
 */
export class Gateway extends Reads {
  readonly #settings: ReaderSettings;
  readonly #reader: Reader;
  readonly #instanceIntegrations: InstanceIntegrationsApi;
  readonly #changes: ChangesApi;

  constructor(options: GatewayOptions) {
    const { apiKey, fetch } = options;
    checkSecret(apiKey, 'apiKey must be the API key: letters, digits and underscores, no spaces.');
    const baseUrl = serverUrl('baseUrl', options.baseUrl, 'the API key', options.allowInsecureHttp);
    const timeoutMs = timeLimit(options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    const settings = { baseUrl, timeoutMs, fetch, retry: retryPolicy(options.retry) };
    const reader = new Reader(settings);
    const configuration = new Configuration({ apiKey: () => apiKey });
    super(reader, configuration);
    this.#settings = settings;
    this.#reader = reader;
    this.#instanceIntegrations = new InstanceIntegrationsApi(configuration);
    this.#changes = new ChangesApi(configuration);
  }

  /** @deprecated The earlier name of `listWorkers`. */
  readonly listWorkersV1: Gateway['listWorkers'] = this.listWorkers.bind(this) as Gateway['listWorkers'];

  /**
   * What the gateway shows of the instance, as one sequence: each entity once, at the place of its newest
   * change. Begins with all that exists; with the `cursor` you stored it continues with what changed since.
   * An `ApiError` with the code `cursor_expired` (410) means: begin again without `after`.
   */
  async listChanges(instanceIntegrationId: string, options: ChangesOptions = {}): Promise<Changes> {
    const { after, limit, waitSeconds = 0 } = options;
    checkNumbers({ waitSeconds });
    const query = {
      ...(after && { after }),
      ...(limit !== undefined && { limit }),
      ...(waitSeconds > 0 && { wait: waitSeconds }),
    };
    const answerMs = timeLimit(options.timeoutMs ?? this.#settings.timeoutMs);
    const timeoutMs = answerMs + waitSeconds * MS_PER_SECOND;
    const { items, next } = await this.#reader.readPage(
      (asked) => this.#changes.listChangesRequestOpts({ instanceIntegrationId, ...query, ...asked }),
      changeFrom,
      { ...options, timeoutMs },
      null,
    );
    return { items, cursor: items.at(-1)?.cursor ?? after ?? null, hasMore: next !== null };
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
  async follow(from: WebhookEvent | string, options: AnyReadOptions = {}): Promise<unknown> {
    const path = pathBelow(this.#settings.baseUrl, from);
    return this.#reader.read(
      async (asked) => ({
        ...(await this.#instanceIntegrations.listInstanceIntegrationsRequestOpts(asked)),
        path,
      }),
      linkedParser(from),
      options,
    );
  }
}
