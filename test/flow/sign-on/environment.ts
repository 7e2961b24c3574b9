import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import type BetterSqlite3 from 'better-sqlite3';
import {
  ApplicationType,
  type CreateApplicationRequest,
} from '../../../generated/proto/integration/operator/v1/applications.js';
import { OperatorServiceService } from '../../../generated/proto/integration/operator/v1/operator.js';
import { SigningAlgorithm } from '../../../generated/proto/integration/operator/v1/signing_keys.js';
import { PlatformServiceService } from '../../../generated/proto/integration/platform/v1/platform.js';
import { RpcChannel, type RpcClient } from '../../../src/rpc/client.js';
import { Sqlite } from '../../../src/store/better-sqlite3.js';
import type { ServiceProcess } from '../../support/service-process.js';
import { TestBrowser } from '../../support/test-browser.js';
import type { RegisteredApplication } from './relying-party.js';
import type { Credentials } from './walk.js';

/** Where a person is a user, and where a worker: ids of clients. */
export interface Memberships {
  user?: readonly string[];
  worker?: readonly string[];
  /** Only invited: without a password. */
  invited?: boolean;
}

export interface Person extends Credentials {
  accountId: string;
  userIds: string[];
  workerIds: string[];
}

export interface Tokens {
  operatorToken: string;
  platformToken: string;
}

export type ApplicationSettings = Partial<Pick<CreateApplicationRequest, 'firstParty' | 'idTokenAlgorithm'>>;

const PASSWORD = 'plum harbour lantern';

/** For a call over gRPC: a new request id, and time enough on a busy machine. */
export const call = () => ({ requestId: randomUUID(), deadlineMs: 20_000 });

/** A running service with those who may tell it things: the platform and an operator. */
export class Environment {
  readonly platform: RpcClient<typeof PlatformServiceService>;
  readonly operator: RpcClient<typeof OperatorServiceService>;
  readonly url: string;
  protected readonly operatorChannel: RpcChannel;
  readonly #platformChannel: RpcChannel;

  constructor(
    readonly service: ServiceProcess,
    { operatorToken, platformToken }: Tokens,
  ) {
    const { SIGN_ON_PORT, GRPC_PORT } = service.settings;
    this.url = `http://localhost:${SIGN_ON_PORT}`;
    this.#platformChannel = new RpcChannel(`127.0.0.1:${GRPC_PORT}`, platformToken);
    this.operatorChannel = new RpcChannel(`127.0.0.1:${GRPC_PORT}`, operatorToken);
    this.platform = this.#platformChannel.clientOf(PlatformServiceService);
    this.operator = this.operatorChannel.clientOf(OperatorServiceService);
  }

  close(): void {
    this.#platformChannel.close();
    this.operatorChannel.close();
  }

  browser(): TestBrowser {
    return new TestBrowser(this.url);
  }

  /** An application that no other test uses. First-party, so without consent, by default. */
  async newApplication(
    instances: readonly string[],
    settings: ApplicationSettings = {},
  ): Promise<RegisteredApplication> {
    const origin = `https://${randomUUID()}.example.com`;
    const redirectUris = instances.map((instanceId, index) => ({
      uri: `${origin}/callback/${index}`,
      instanceId,
    }));
    const { application, clientSecret } = await this.operator.createApplication(
      {
        name: 'Rota Planner',
        type: ApplicationType.CONFIDENTIAL,
        redirectUris,
        allowedScopes: [],
        allowedGrantTypes: [],
        postLogoutRedirectUris: [],
        firstParty: true,
        signOutEndsTokens: false,
        idTokenAlgorithm: SigningAlgorithm.RS256,
        ...settings,
      },
      call(),
    );
    return { clientId: application?.id ?? '', redirectUris, ...(clientSecret && { clientSecret }) };
  }

  /** A person that no other test uses. Users are INVITED, in the order of the clients. */
  async newPerson({ user = [], worker = [], invited = false }: Memberships): Promise<Person> {
    const email = `person.${randomUUID()}@tallowfern.example.com`;
    const names = { email, firstName: 'Ada', lastName: 'Okafor' };
    const person: Person = { email, password: PASSWORD, accountId: '', userIds: [], workerIds: [] };
    for (const clientId of user) {
      const made = await this.platform.createUser({ ...names, clientId, withoutManager: true }, call());
      person.userIds.push(made.user?.id ?? '');
      person.accountId = made.user?.accountId ?? '';
    }
    for (const clientId of worker) {
      const worker = { ...names, clientId, jobTitles: [], unitIds: [] };
      const made = await this.platform.onboardWorker(worker, call());
      person.workerIds.push(made.worker?.id ?? '');
      person.accountId = made.worker?.accountId ?? '';
    }
    if (!invited) {
      await this.platform.setPassword({ accountId: person.accountId, password: PASSWORD }, call());
    }
    return person;
  }

  /** Marks the address as verified, as if by the link. */
  markVerified({ accountId }: Pick<Person, 'accountId'>): void {
    this.age('update accounts set email_verified_at = created_at where id = ?', accountId);
  }

  /** As if the person had signed in as each of their users. */
  markActive({ accountId }: Pick<Person, 'accountId'>): void {
    this.age("update users set status = 'ACTIVE' where account_id = ?", accountId);
  }

  /** What the database says, which is what every other process would read. */
  rows<Row>(statement: string, ...values: unknown[]): Row[] {
    return this.#inDatabase(true, (database) => database.prepare(statement).all(...values) as Row[]);
  }

  /** Changes times of rows, so that no test has to wait. Returns the number of rows. */
  age(statement: string, ...values: unknown[]): number {
    return this.#inDatabase(false, (database) => database.prepare(statement).run(...values).changes);
  }

  /** The audit records about a subject, oldest first. */
  audited(subjectId: string): { type: string; outcome: string; actorId: string }[] {
    return this.rows(
      'select type, outcome, actor_id as actorId from audit_events where subject_id = ? order by seq',
      subjectId,
    );
  }

  #inDatabase<T>(readonly: boolean, work: (database: BetterSqlite3.Database) => T): T {
    const database = new Sqlite(join(this.service.dataDir, 'integration.db'), { readonly });
    try {
      return work(database);
    } finally {
      database.close();
    }
  }
}

/** An environment for the tests of one file. */
export function duringTests<Started extends Environment>(start: () => Promise<Started>) {
  let running: Started | undefined;
  beforeAll(async () => {
    running = await start();
  });
  afterAll(() => running?.close());
  return {
    get demo(): Started {
      if (!running) {
        throw new Error('The environment is there once the tests run.');
      }
      return running;
    },
  };
}
