import { randomUUID } from 'node:crypto';
import { PlatformServiceService } from '../../generated/proto/integration/platform/v1/platform.js';
import type { DemoFilePerson } from '../../src/cli/demo/demo-file.js';
import { demoSeed } from '../../src/domain/demo/seed.js';
import { RpcChannel, type RpcClient } from '../../src/rpc/client.js';
import { AttackedService } from '../attacks/attacked-service.js';
import { PatientClient } from '../chaos/patient-client.js';
import { type Family, refreshed, tokensIn } from '../chaos/sign-on/families.js';
import { plantPeople } from '../chaos/sign-on/planted-people.js';
import { SignInFlow, type Step } from '../chaos/sign-on/sign-in-flow.js';
import { WebhookTestimony } from '../chaos/webhooks/testimony.js';
import { connectionIds } from '../flow/webhooks/webhook-environment.js';
import { type Exchange, exchange } from '../support/http-exchange.js';
import type { ServiceProcess } from '../support/service-process.js';
import { type Behaviour, WebhookSubscribers } from '../support/webhooks/subscribers.js';
import { steadily, type Tally } from './steady.js';

/** Two of one instance: a write to a client changes the ETags of all its lists. */
const [read, changed] = demoSeed.clients.filter(({ instance }) => instance === demoSeed.clients[0]?.instance);

const PEOPLE = 100;
const USERS = 20;
/** Refreshes use only the newest sign-ins; most real sign-ins are not used again either. */
const KEPT_FAMILIES = 50;

const BEHAVIOURS: readonly Behaviour[] = [
  { kind: 'accepts' },
  { kind: 'is slow', answersAfterMs: 200 },
  { kind: 'refuses' },
  { kind: 'fails', latePerThousand: 0 },
];
/** Receivers that accept each event at once. */
export const ACCEPTING = [0, 1];

/** All kinds of requests, at rates that leave a machine with two processors half idle. */
export class MixedLoad {
  /** How many events were acknowledged. */
  written = 0;
  readonly #on: AttackedService;
  readonly #client: PatientClient<Step | 'list'>;
  readonly #people: DemoFilePerson[];
  readonly #families: Family[] = [];
  #signIns = 0;
  #etag: string | undefined;
  #userIds: string[] = [];
  #subscriptionIds: string[] = [];

  private constructor(
    private readonly service: ServiceProcess,
    readonly subscribers: WebhookSubscribers,
    private readonly channel: RpcChannel,
    private readonly platform: RpcClient<typeof PlatformServiceService>,
    private readonly testimony: WebhookTestimony,
  ) {
    this.#on = new AttackedService(service);
    this.#client = new PatientClient(service);
    this.#people = plantPeople(service, this.#on.dashboard.redirectUris[0]?.instanceId ?? '', PEOPLE);
  }

  static async start(service: ServiceProcess, recordsFile: string): Promise<MixedLoad> {
    const { operatorToken, platformToken, grpcAddress } = service.demo();
    const subscribers = await WebhookSubscribers.start(BEHAVIOURS.length, recordsFile);
    const channel = new RpcChannel(grpcAddress, platformToken);
    const testimony = new WebhookTestimony(new RpcChannel(grpcAddress, operatorToken));
    const platform = channel.clientOf(PlatformServiceService);
    const load = new MixedLoad(service, subscribers, channel, platform, testimony);
    await load.#hire();
    await load.#subscribe();
    return load;
  }

  /** Runs until the signal. */
  run(signal: AbortSignal): Promise<Tally[]> {
    return Promise.all([
      steadily('sign-in', { perSecond: 3, atOnce: 4 }, signal, () => this.#signIn()),
      steadily('refresh', { perSecond: 10, atOnce: 4 }, signal, () => this.#refresh()),
      steadily('userinfo', { perSecond: 20, atOnce: 4 }, signal, () => this.#userinfo()),
      steadily('list of workers', { perSecond: 10, atOnce: 4 }, signal, () => this.#read()),
      steadily('list of workers, unchanged', { perSecond: 20, atOnce: 4 }, signal, () => this.#readAgain()),
      steadily('write', { perSecond: 10, atOnce: 4 }, signal, () => this.#write()),
    ]);
  }

  /** Cut connections and unreachable roles, after which a request was repeated. */
  get interruptions(): readonly string[] {
    return this.#client.interruptions;
  }

  get signIns(): number {
    return this.#signIns;
  }

  untilDelivered(limitMs: number): Promise<void> {
    return this.testimony.untilAllEnded(this.#subscriptionIds, limitMs);
  }

  async stop(): Promise<void> {
    this.channel.close();
    this.testimony.close();
    await this.subscribers.stop();
  }

  async #hire(): Promise<void> {
    const clientId = changed?.id ?? '';
    const { role } = await this.platform.createRole({ clientId, name: 'Crew', permissions: ['a'] }, call());
    for (let number = 0; number < USERS; number += 1) {
      const email = `crew.${number}@example.com`;
      const { user } = await this.platform.createUser(
        { clientId, roleId: role?.id ?? '', email, withoutManager: true },
        call(),
      );
      this.#userIds.push(user?.id ?? '');
    }
  }

  async #subscribe(): Promise<void> {
    for (const [index, behaviour] of BEHAVIOURS.entries()) {
      const { subscription, secret } = await this.testimony.webhooks.createSubscription(
        {
          instanceIntegrationId: connectionIds.harborlight,
          url: this.subscribers.urlOf(index),
          eventTypes: ['user.updated'],
          clientIds: [],
          description: behaviour.kind,
        },
        call(),
      );
      this.#subscriptionIds.push(subscription?.id ?? '');
      this.subscribers.subscribe(index, secret, behaviour);
    }
  }

  async #signIn(): Promise<void> {
    const { dashboard, mobile, portal } = this.#on;
    const person = this.#people[this.#signIns % PEOPLE] as DemoFilePerson;
    const application = [dashboard, mobile, portal][this.#signIns % 3] ?? dashboard;
    this.#signIns += 1;
    this.#families.push(await new SignInFlow(this.#on, this.#client, person, application).run());
    this.#families.splice(0, this.#families.length - KEPT_FAMILIES);
  }

  /** Takes out the oldest family: two concurrent refreshes of one family would count as theft. */
  async #refresh(): Promise<void> {
    const family = this.#families.shift();
    if (family) {
      const ask = () => this.#on.refresh(family.application, family.refreshToken);
      const tokens = tokensIn(await this.#client.ask('refresh', ask));
      const [newest] = refreshed(family, tokens).accessTokens.slice(-1) as [string];
      this.#families.push({ ...family, accessTokens: [newest], refreshToken: tokens.refresh_token });
    }
  }

  async #userinfo(): Promise<void> {
    const [token] = this.#families.at(-1)?.accessTokens.slice(-1) ?? [];
    if (token !== undefined) {
      expectStatus(200, await this.#client.ask('userinfo', () => this.#on.userinfo(token)));
    }
  }

  async #read(): Promise<void> {
    const answer = await this.#workers({});
    expectStatus(200, answer);
    this.#etag = answer.headers.etag;
  }

  async #readAgain(): Promise<void> {
    expectStatus(this.#etag === undefined ? 200 : 304, await this.#workers({ 'if-none-match': this.#etag }));
  }

  #workers(headers: Record<string, string | undefined>): Promise<Exchange> {
    const { apiKeys } = this.service.demo();
    const reaching = apiKeys.find(({ instanceIntegrationIds }) =>
      instanceIntegrationIds.includes(connectionIds.harborlight),
    );
    const path = `/v1/instance-integrations/${connectionIds.harborlight}/clients/${read?.id}/workers`;
    return this.#client.ask('list', () =>
      exchange(Number(this.service.settings.GATEWAY_PORT), path, {
        headers: { 'x-api-key': reaching?.key ?? '', ...headers },
      }),
    );
  }

  async #write(): Promise<void> {
    const userId = this.#userIds[this.written % USERS] ?? '';
    const update = { userId, firstName: `Crew ${randomUUID()}`, idempotencyKey: randomUUID() };
    await this.platform.updateUser(update, call());
    this.written += 1;
  }
}

function expectStatus(status: number, answer: Exchange): void {
  if (answer.status !== status) {
    throw new Error(`${answer.method} ${answer.target} was answered ${answer.status}: ${answer.body}`);
  }
}

function call() {
  return { requestId: randomUUID(), deadlineMs: 30_000 };
}
