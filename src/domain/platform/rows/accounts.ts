import type {
  AccountId,
  ClientId,
  InstanceId,
  UserId,
  WorkerId,
  WorkerProfileId,
} from '../../../../generated/ids.js';
import type { PageRequest } from '../../directory/page.js';

/** A person, with all their clients. */
export interface Account {
  id: AccountId;
  workerProfileId: WorkerProfileId;
  /** As given; compared without regard to case. */
  email: string;
  /** When the person proved that the address is theirs; null until then. */
  emailVerifiedAt: number | null;
  firstName: string | null;
  lastName: string | null;
  /** Null while the person may sign in. */
  disabledAt: number | null;
  version: string;
  createdAt: number;
  updatedAt: number;
}

/** What a person is at one client; omits deleted users and offboarded workers. */
export interface AccountContext {
  member: { kind: 'user'; id: UserId } | { kind: 'worker'; id: WorkerId };
  clientId: ClientId;
  instanceId: InstanceId;
  /** Whether it admits the person, if the account is enabled. */
  enabled: boolean;
}

export interface AccountRows {
  /** By address or key. Of two accounts of one mailbox, the one with exactly this address. */
  findByEmail(email: string): Promise<Account | undefined>;
  find(id: string): Promise<Account | undefined>;
  /** Whether it was inserted: of concurrent inserts of one address, one returns false. */
  insert(account: Account): Promise<boolean>;
  /** Throws `emailTaken` when another account has the address. */
  update(account: Account): Promise<void>;
  /** In the order of the addresses; only those whose address begins with a text, if one is given. */
  page(page: PageRequest, emailPrefix: string | undefined): Promise<Account[]>;
  contextsOf(id: AccountId): Promise<AccountContext[]>;
  /** Each client of which the person is or was a user or worker. */
  clientsOf(id: AccountId): Promise<ClientId[]>;
  /** Names related to the person: own names and address, clients, instances, and applications there. */
  namesAround(id: string): Promise<string[]>;
}
