import { join } from 'node:path';
import { demoSeed } from '../../../src/domain/demo/seed.js';
import { RpcChannel } from '../../../src/rpc/client.js';
import { call } from '../../flow/sign-on/environment.js';
import { connectionIds } from '../../flow/webhooks/webhook-environment.js';
import { eventually } from '../../support/eventually.js';
import type { ServiceProcess, StartOptions } from '../../support/service-process.js';
import { type Behaviour, WebhookSubscribers } from '../../support/webhooks/subscribers.js';
import type { Evidence } from './judge.js';
import { type Kill, TIMEOUT_MS } from './repeats.js';
import { type Campaign, type Strike, strikesOf } from './strikes.js';
import { WebhookTestimony } from './testimony.js';
import { Victims } from './victims.js';
import { MovingCrowd } from './writes.js';

export interface StormSettings extends Campaign {
  endLimitMs: number;
  /** Where the service keeps its data and others write theirs. */
  directory: string;
  temporal: string;
  retryDelays: string;
  start: (options: StartOptions) => Promise<ServiceProcess>;
  /** Told what is being done. */
  progress: (step: string) => void;
}

interface Subscribed {
  id: string;
  behaviour: Behaviour;
  /** None for all. */
  clientIds: readonly string[];
}

const SUBSCRIBERS = 20;
/** How many events one of them lets run into the deadline. */
const LATE_EVENTS = 40;
/** Writes are so many edits ahead of what the receivers have got, no more. */
const EDITS_AHEAD = 2;

/** Many events to twenty subscribers, while all that serves them is killed. */
export class WebhookStorm {
  readonly struck: Strike[] = [];
  /** Of those who send or record. */
  readonly kills: Kill[] = [];
  #subscribed: Subscribed[] = [];
  #crowds: MovingCrowd[] = [];
  readonly strikes: readonly Strike[];
  #tellOfWriting: () => void = () => undefined;
  readonly #testimony: WebhookTestimony;

  private constructor(
    private readonly settings: StormSettings,
    readonly service: ServiceProcess,
    private readonly victims: Victims,
    private readonly subscribers: WebhookSubscribers,
    private readonly channels: { operator: RpcChannel; platform: RpcChannel },
  ) {
    this.#testimony = new WebhookTestimony(channels.operator);
    this.strikes = strikesOf(settings);
  }

  static async start(settings: StormSettings): Promise<WebhookStorm> {
    const { directory, temporal, retryDelays } = settings;
    settings.progress('starting');
    const [victims, subscribers] = await Promise.all([
      Victims.start(temporal, join(directory, 'temporal.db')),
      WebhookSubscribers.start(SUBSCRIBERS, join(directory, 'records.jsonl')),
    ]);
    const service = await settings.start({
      dataDir: join(directory, 'data'),
      env: {
        TEMPORAL_ADDRESS: victims.temporalAddress,
        WEBHOOK_RETRY_DELAYS: retryDelays,
        WEBHOOK_TIMEOUT: `${TIMEOUT_MS}ms`,
      },
    });
    const { operatorToken, platformToken, grpcAddress } = service.demo();
    const channels = {
      operator: new RpcChannel(grpcAddress, operatorToken),
      platform: new RpcChannel(grpcAddress, platformToken),
    };
    const storm = new WebhookStorm(settings, service, victims.of(service), subscribers, channels);
    await storm.#prepare();
    return storm;
  }

  /** Writes, and strikes meanwhile; over when nothing is to be sent any more. */
  async run(): Promise<void> {
    const { endLimitMs, progress } = this.settings;
    await this.#writeAll();
    progress('waiting for the last retries');
    const ids = this.#subscribed.map(({ id }) => id);
    await this.#testimony.untilAllEnded(ids, endLimitMs);
  }

  /** Some sleep a little longer than what they were to retry takes. */
  untilNoWorkflowRuns(): Promise<void> {
    return this.victims.untilNoWorkflowRuns(this.settings.endLimitMs);
  }

  /** How many events were acknowledged to who wrote. */
  get acknowledgedEvents(): number {
    return this.#crowds.reduce((sum, { moved }) => sum + moved, 0);
  }

  async evidence(): Promise<Evidence> {
    this.settings.progress('asking the service and the receivers');
    const events = await this.#testimony.events(this.#crowds.map(({ clientId }) => clientId));
    const subscribed = this.#subscribed.map(({ id, clientIds }) => ({
      id,
      matches: ({ clientId }: { clientId: string }) => clientIds.length === 0 || clientIds.includes(clientId),
    }));
    return this.#testimony.evidence(events, subscribed, await this.subscribers.records());
  }

  get #events(): number {
    return this.settings.edits * this.settings.eventsPerEdit;
  }

  /** The subscription with a receiver that answers 410. */
  get goneId(): string {
    return this.#subscribed.find(({ behaviour }) => behaviour.kind === 'goes away')?.id ?? '';
  }

  async stop(): Promise<void> {
    this.#testimony.close();
    this.channels.platform.close();
    this.service.killGroup();
    await Promise.all([this.service.exited, this.subscribers.stop(), this.victims.stop()]);
  }

  async #prepare(): Promise<void> {
    const { eventsPerEdit, progress } = this.settings;
    progress('hiring');
    const instanceId = demoSeed.instances[0]?.id ?? '';
    this.#crowds = await Promise.all(
      [0, 1].map(() => MovingCrowd.of(this.channels.platform, instanceId, eventsPerEdit)),
    );
    for (let index = 0; index < SUBSCRIBERS; index += 1) {
      this.#subscribed.push(await this.#subscribe(index));
    }
  }

  /** One in ten fails; one goes away in the middle, one is slow, and one wants the half of it. */
  #behaviourOf(index: number): Behaviour {
    const special: Record<number, Behaviour> = {
      16: { kind: 'is slow', answersAfterMs: 100 },
      17: { kind: 'goes away', afterEvents: Math.floor(this.#events / 2) },
      18: { kind: 'refuses' },
      // Each occupies its slot until the time-out, and to one who fails little is sent at once.
      19: { kind: 'fails', latePerThousand: Math.min(100, (LATE_EVENTS / this.#events) * 1_000) },
    };
    return special[index] ?? { kind: 'accepts' };
  }

  async #subscribe(index: number): Promise<Subscribed> {
    const [first] = this.#crowds;
    const behaviour = this.#behaviourOf(index);
    const clientIds = index === 1 ? [first?.clientId ?? ''] : [];
    const { subscription, secret } = await this.#testimony.webhooks.createSubscription(
      {
        instanceIntegrationId: connectionIds.harborlight,
        url: this.subscribers.urlOf(index),
        eventTypes: [['*'], ['user.*'], ['user.updated']][index % 3] ?? ['*'],
        clientIds,
        description: behaviour.kind,
      },
      call(),
    );
    this.subscribers.subscribe(index, secret, behaviour);
    return { id: subscription?.id ?? '', behaviour, clientIds };
  }

  async #writeAll(): Promise<void> {
    const { edits, eventsPerEdit, progress } = this.settings;
    const strikes = [...this.strikes];
    let striking = Promise.resolve();
    for (let edit = 0; edit < edits; edit += 1) {
      progress(`${edit * eventsPerEdit} of ${this.#events} events, ${this.struck.length} kills`);
      await this.subscribers.received(this.#expectedAfter(edit - EDITS_AHEAD));
      if (strikes[0]?.edit === edit) {
        await striking;
        striking = this.#strike(strikes.shift() as Strike);
        // Callers that await it get the error; this avoids an unhandled rejection.
        striking.catch(() => undefined);
      }
      const writing = this.#crowds[edit % this.#crowds.length]?.move();
      this.#tellOfWriting();
      await writing;
    }
    await striking;
  }

  /** The least number of deliveries when nearly all of so many edits have arrived. */
  #expectedAfter(edits: number): number {
    return Math.max(0, edits) * this.settings.eventsPerEdit * (SUBSCRIBERS - 3);
  }

  /** Over when who died is back. */
  async #strike(strike: Strike): Promise<void> {
    const { target, during, lets } = strike;
    const kill = async () => {
      const killed = await this.victims.kill(target);
      if (target === 'worker' || target === 'domain') {
        this.kills.push({ target, during, ...killed });
      }
    };
    if (during === 'write') {
      await new Promise<void>((resolve) => {
        this.#tellOfWriting = resolve;
      });
      await kill();
    } else if (during === 'read') {
      await Promise.all([this.#read(), kill()]);
      await eventually('a read that is answered', () => this.#read());
    } else {
      await this.subscribers.during(during, lets, kill);
    }
    await this.victims.back(target);
    this.struck.push(strike);
  }

  /** A long list, as an integrator reads it; false when it was cut off. */
  #read(): Promise<boolean> {
    const [client] = demoSeed.clients;
    const url = `${this.service.gatewayUrl}/v1/instance-integrations/${connectionIds.harborlight}/clients/${client?.id}/workers`;
    const headers = { 'x-api-key': this.service.demo().apiKeys[0]?.key ?? '' };
    return fetch(url, { headers })
      .then(async (response) => (await response.text()).length > 0 && response.status === 200)
      .catch(() => false);
  }
}
