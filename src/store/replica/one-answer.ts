import type { DirectoryStores } from '../../domain/directory/stores.js';

export interface AnswerOptions {
  replica: DirectoryStores;
  primary: DirectoryStores;
  /** Reads the version of the data on the replica. */
  present(): Promise<string | undefined>;
  /** Reads the version that the primary shows. A failure here is not one of the replica. */
  shown(): Promise<string | undefined>;
  /** The version that the primary showed, and the replica had, before the first read. */
  version: string;
  /** Whether the replica can be read. */
  isUp(): boolean;
  onFailure(error: unknown): void;
  onPrimary(reason: 'lag' | 'failure'): void;
}

type Method = (...given: unknown[]) => Promise<unknown>;

/**
 * The rows of one answer come from the replica until one read is repeated on the primary. Later pages then
 * come from the primary too, because the replica may lack data that the primary has already shown.
 */
export class OneAnswer {
  #version: string;
  #isOnPrimary = false;

  constructor(private readonly options: AnswerOptions) {
    this.#version = options.version;
  }

  get stores(): DirectoryStores {
    const { replica, primary } = this.options;
    return {
      clients: this.#over(replica.clients, primary.clients),
      workers: this.#over(replica.workers, primary.workers),
      users: this.#over(replica.users, primary.users),
      organization: this.#over(replica.organization, primary.organization),
    };
  }

  #over<Store extends object>(replica: Store, primary: Store): Store {
    const methodOf = (store: Store, name: PropertyKey) =>
      (store as Record<PropertyKey, Method>)[name] as Method;
    return new Proxy(replica, {
      get:
        (_, name): Method =>
        async (...given) => {
          const found = this.#isOnPrimary ? undefined : await this.#near(methodOf(replica, name), given);
          return found ? found.rows : methodOf(primary, name)(...given);
        },
    });
  }

  async #near(read: Method, given: unknown[]): Promise<{ rows: unknown } | undefined> {
    let reason: 'lag' | 'failure' = 'failure';
    if (this.options.isUp()) {
      try {
        const rows = await read(...given);
        if (await this.#isShown()) {
          return { rows };
        }
        reason = 'lag';
      } catch (error) {
        this.options.onFailure(error);
      }
    }
    this.#isOnPrimary = true;
    this.options.onPrimary(reason);
    return undefined;
  }

  /**
   * While the primary waits for another replica to confirm a commit, this replica may already show it:
   * callers that then read on the primary would miss it.
   */
  async #isShown(): Promise<boolean> {
    const present = await this.options.present();
    if (present === this.#version) {
      return true;
    }
    if (present === undefined || present !== (await this.options.shown().catch(() => undefined))) {
      return false;
    }
    this.#version = present;
    return true;
  }
}
