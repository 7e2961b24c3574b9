import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { PlatformServiceService } from '../../../generated/proto/integration/platform/v1/platform.js';
import { WebhookServiceService } from '../../../generated/proto/integration/webhooks/v1/webhooks.js';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import { RpcChannel } from '../../../src/rpc/client.js';
import type { AttackedService, FreshCode, Tokens } from '../../attacks/attacked-service.js';
import { call } from '../../flow/sign-on/environment.js';
import { connectionIds } from '../../flow/webhooks/webhook-environment.js';
import type { ServiceProcess } from '../../support/service-process.js';
import type { Reader } from '../mirrors/gateway-lists.js';

const DEADLINE_MS = 15_000;
const LOST = new Set([ErrorCode.UNAVAILABLE, ErrorCode.INTERNAL_ERROR]);

/** Of the demo, on the instance Harborlight. */
export const CLIENT = 'cli_s7I6uiS7GeF9ulpYlaR5CS';

/** To the users that are made at the client. */
export async function subscribe(domain: ServiceProcess, url: string): Promise<void> {
  const channel = new RpcChannel(`127.0.0.1:${domain.settings.GRPC_PORT}`, domain.demo().operatorToken);
  await channel.clientOf(WebhookServiceService).createSubscription(
    {
      ...{ instanceIntegrationId: connectionIds.harborlight, url, eventTypes: ['user.created'] },
      ...{ clientIds: [CLIENT], description: 'of a test' },
    },
    call(),
  );
  channel.close();
}

/** Makes users until told to stop, and keeps the ids of those that were acknowledged. */
export class UserWriter {
  readonly acknowledged: string[] = [];
  refused = 0;

  constructor(
    private readonly address: string,
    private readonly token: string,
    private readonly clientId: string,
    private readonly pauseMs = 0,
  ) {}

  async run(isOver: () => boolean): Promise<void> {
    const channel = new RpcChannel(this.address, this.token);
    const platform = channel.clientOf(PlatformServiceService);
    while (!isOver()) {
      const email = `${randomUUID()}@promotion.example.com`;
      try {
        const { user } = await platform.createUser(
          { clientId: this.clientId, email, withoutManager: true },
          { requestId: randomUUID(), deadlineMs: DEADLINE_MS },
        );
        this.acknowledged.push(user?.id ?? '');
      } catch (error) {
        if (!(error instanceof ServiceError && LOST.has(error.code))) {
          throw error;
        }
        this.refused += 1;
      }
      await pause(this.pauseMs);
    }
    channel.close();
  }
}

const SPENT_AT_FIRST = 2;

/** Has redeemed its code, and refreshes its tokens until it is told to stop or an answer is lost. */
export class Session {
  /** Spent, as its answers say. */
  readonly spent: string[] = [];
  newest = '';
  #isLost = false;

  private constructor(
    private readonly service: AttackedService,
    readonly code: FreshCode,
  ) {}

  /** One whose first answers all came: a busy node refuses some requests. */
  static async begin(service: AttackedService, newCode: () => Promise<FreshCode>): Promise<Session> {
    for (;;) {
      const session = new Session(service, await newCode());
      await session.#take(service.redeem(session.code));
      await session.run(() => session.spent.length >= SPENT_AT_FIRST);
      if (!session.#isLost) {
        return session;
      }
    }
  }

  async run(isOver: () => boolean): Promise<void> {
    while (!this.#isLost && !isOver()) {
      await this.#take(this.service.refresh(this.code.application, this.newest));
    }
  }

  async #take(asked: ReturnType<AttackedService['refresh']>): Promise<void> {
    const answer = await asked.catch(() => undefined);
    if (answer?.status === 200) {
      this.spent.push(...(this.newest === '' ? [] : [this.newest]));
      this.newest = (JSON.parse(answer.body) as Tokens).refresh_token;
      return;
    }
    if (answer && answer.status !== 503) {
      throw new Error(`A token was answered ${answer.status}: ${answer.body}`);
    }
    this.#isLost = true;
  }
}

/** Follows the sequence of changes, again from its beginning if its cursor expires, and keeps the ids. */
export class Follower {
  readonly users = new Set<string>();
  expired = 0;
  #cursor: string | undefined;

  constructor(private readonly reader: Reader) {}

  async run(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.step();
    }
  }

  async step(): Promise<void> {
    const { gatewayUrl, apiKey, instanceIntegrationId } = this.reader;
    const after = this.#cursor === undefined ? '' : `&after=${this.#cursor}`;
    const answer = await fetch(
      `${gatewayUrl}/v1/instance-integrations/${instanceIntegrationId}/changes?wait=1${after}`,
      { headers: { 'x-api-key': apiKey } },
    );
    const body = await answer.text();
    if (answer.status === 503) {
      return;
    }
    if (answer.status === 410) {
      this.expired += 1;
      this.users.clear();
      this.#cursor = undefined;
      return;
    }
    if (answer.status !== 200) {
      throw new Error(`The sequence of changes answered ${answer.status}: ${body}`);
    }
    const changes = JSON.parse(body) as { cursor: string; entity: { type: string; id: string } }[];
    for (const { cursor, entity } of changes) {
      this.#cursor = cursor;
      this.users.add(entity.id);
    }
  }
}
