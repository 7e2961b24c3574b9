import { join } from 'node:path';
import { newApiKey } from '../../../src/identifiers/api-key.js';
import { storedHash } from '../../../src/identifiers/random-secrets.js';
import { Sqlite } from '../../../src/store/better-sqlite3.js';
import { AttackedService } from '../../attacks/attacked-service.js';
import { DemoEnvironment } from '../../flow/sign-on/demo-environment.js';
import { owner } from '../../gateway/demo-paths.js';
import { contractDocument } from '../../support/contract/contract-document.js';
import { operationsOf, outputViolations, type PrismOperation } from '../../support/contract/prism.js';
import { type PrismProxy, startPrism } from '../../support/contract/prism-proxy.js';
import { type Exchange, exchange, type Question } from '../../support/http-exchange.js';
import type { ServiceProcess } from '../../support/service-process.js';
import type { WaitingPages } from './sign-on-walks.js';
import type { Api } from './status-case.js';

/** The requests of an integration: the cases of one stay below it, those of the other exceed it. */
export const GATEWAY_LIMIT = 300;

export const SETTINGS = { TRUSTED_PROXIES: '127.0.0.1/32', GATEWAY_RATE_LIMIT: `${GATEWAY_LIMIT}/1h` };

/** What came, and what Prism has against it. */
export interface Judged {
  answer: Exchange;
  violations: unknown[];
}

/** Prism's own judgement of what any server answered. */
export class PrismJudge {
  private constructor(private readonly operations: Record<Api, PrismOperation[]>) {}

  static async make(): Promise<PrismJudge> {
    return new PrismJudge({
      gateway: await operationsOf(contractDocument('gateway')),
      'sign-on': await operationsOf(contractDocument('sign-on')),
    });
  }

  violations(api: Api, operationId: string, answer: Exchange): string[] {
    const operation = this.operations[api].find(({ iid }) => iid === operationId);
    return operation ? outputViolations(operation, answer) : [`there is no operation ${operationId}`];
  }
}

/** A demo with all that the cases need of it. */
export class CoveredService {
  readonly signOn: AttackedService;
  readonly demo: DemoEnvironment;
  readonly gatewayPort: number;
  /** Taken while all was well, for what comes after. */
  keptToken = '';
  keptPages: WaitingPages | undefined;

  private constructor(
    private readonly service: ServiceProcess,
    private readonly proxy: PrismProxy,
  ) {
    this.signOn = new AttackedService(service);
    this.demo = new DemoEnvironment(service);
    this.gatewayPort = Number(service.settings.GATEWAY_PORT);
  }

  static async over(service: ServiceProcess): Promise<CoveredService> {
    return new CoveredService(service, await startPrism(service.gatewayUrl));
  }

  /** Of the first integration, or of the other one. */
  apiKey(which: 'own' | 'spent' = 'own'): string {
    const { apiKeys } = this.service.demo();
    return apiKeys.find(({ integrationId }) => (integrationId === owner.id) === (which === 'own'))?.key ?? '';
  }

  /** A key of the first integration that was in force once. */
  expiredApiKey(): string {
    const key = newApiKey('demo');
    const database = this.#database();
    const columns = 'integration_id, label, hint, created_at, version';
    database
      .prepare(
        `insert into api_keys (id, hash, expires_at, ${columns})
        select ?, ?, created_at, ${columns} from api_keys where integration_id = ? limit 1`,
      )
      .run(`key_${key.slice(-20)}`, storedHash(key), owner.id);
    database.close();
    return key;
  }

  throughProxy(target: string, question: Question): Promise<Judged> {
    return this.proxy.ask(target, question);
  }

  gateway(target: string, question: Question): Promise<Exchange> {
    return exchange(this.gatewayPort, target, question);
  }

  /** Every statement of the domain fails from now on, as on a disk that lost its tables. */
  spoilStore(): void {
    const database = this.#database();
    const tables = database
      .prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'")
      .pluck()
      .all() as string[];
    for (const table of tables) {
      database.exec(`alter table "${table}" rename to "gone_${table}"`);
    }
    database.close();
  }

  #database() {
    return new Sqlite(join(this.service.dataDir, 'integration.db'));
  }

  /** For good: who would start it again is stopped first. */
  stopDomain(): void {
    const domain = this.service.pidOf('domain');
    this.service.signal('SIGSTOP');
    process.kill(domain, 'SIGKILL');
  }

  async close(): Promise<void> {
    this.demo.close();
    await this.proxy.close();
  }
}
