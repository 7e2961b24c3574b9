import { setTimeout as pause } from 'node:timers/promises';
import { demoSeed } from '../../../src/domain/demo/seed.js';
import type { Database } from '../../../src/store/database.js';
import { AttackedService } from '../../attacks/attacked-service.js';
import { connectionIds } from '../../flow/webhooks/webhook-environment.js';
import { eventually } from '../../support/eventually.js';
import { exchange } from '../../support/http-exchange.js';
import { randomFrom } from '../../support/random-from.js';
import { untilAnswered } from '../../support/turned-away.js';
import { readerOf } from '../calls/readers.js';
import { Traffic } from '../calls/traffic.js';
import { codePlanter } from '../histories/planted-codes.js';
import { forEachOf } from '../patient-client.js';
import { UserWriter } from '../promotion/load.js';
import { MovingCrowd } from '../webhooks/writes.js';
import type { LinkedService } from './linked-service.js';
import { TokenUser } from './token-user.js';

const READERS = 4;
const TOKEN_USERS = 4;
/** Of each user of tokens. */
const BURST = 3;
const CROWD_SIZE = 5;
const WRITE_PAUSE_MS = 100;
const EDIT_PAUSE_MS = 400;
const AT_ONCE = 8;
/** A domain waits 25 s for an answer of PostgreSQL, and the machine may have much else to do. */
export const LIMIT_MS = 90_000;

/** Steady writes at each domain, and exchanges, refreshes and reads at the edge. */
export class Load {
  readonly traffic = new Traffic();
  readonly #bursts: Promise<unknown>[] = [];
  #isOver = false;

  private constructor(
    private readonly service: LinkedService,
    readonly on: AttackedService,
    /** One at each domain, and so are the crowds. */
    readonly writers: readonly UserWriter[],
    readonly crowds: readonly MovingCrowd[],
    readonly tokenUsers: readonly TokenUser[],
  ) {}

  static async prepare(service: LinkedService, database: Database, seed: number): Promise<Load> {
    const { nodes, platforms } = service;
    const [{ process: domain }] = nodes.domains;
    const on = new AttackedService(domain);
    const planted = await codePlanter(database, on);
    let codes = 0;
    const newCode = () => planted(codes++);
    const instanceId = demoSeed.instances[0]?.id ?? '';
    const crowds = await Promise.all(
      platforms.map((channel) => MovingCrowd.of(channel, instanceId, CROWD_SIZE)),
    );
    const { platformToken } = domain.demo();
    const writers = crowds.map(({ clientId }, index) => {
      const address = `127.0.0.1:${nodes.domains[index]?.process.settings.GRPC_PORT}`;
      return new UserWriter(address, platformToken, clientId, WRITE_PAUSE_MS);
    });
    const tokenUsers = Array.from(
      { length: TOKEN_USERS },
      (_, index) => new TokenUser(on, newCode, randomFrom(seed + index + 1)),
    );
    return new Load(service, on, writers, crowds, tokenUsers);
  }

  /** Until `stop`, and the last answers. */
  async run(): Promise<void> {
    const { edge, domains } = this.service.nodes;
    const isOver = () => this.#isOver;
    const reader = readerOf({ settings: edge.settings, demo: () => domains[0].process.demo() });
    this.traffic.add('reader', READERS, () => reader);
    await Promise.all([
      ...this.writers.map((writer) => writer.run(isOver)),
      ...this.crowds.map((crowd) => keepMoving(crowd, isOver)),
      ...this.tokenUsers.map((user) => user.run(isOver)),
    ]);
    await Promise.all(this.#bursts);
    await this.traffic.end();
  }

  /** Many exchanges at once, so that some meet what comes now. */
  burst(): void {
    const exchanges = this.tokenUsers.flatMap((user) =>
      Array.from({ length: BURST }, () => user.exchange(() => this.#isOver)),
    );
    const all = Promise.all(exchanges);
    // `run` gives the error.
    all.catch(() => undefined);
    this.#bursts.push(all);
  }

  stop(): void {
    this.#isOver = true;
  }

  close(): void {
    this.stop();
    this.traffic.close();
  }

  /** How many were acknowledged. */
  get operations(): number {
    return this.#done.reduce((sum, done) => sum + done, 0);
  }

  async untilMore(operations: number): Promise<void> {
    const wanted = this.operations + operations;
    await eventually(`${operations} more operations`, () => this.operations >= wanted, LIMIT_MS);
  }

  /** Each writer and each user of tokens has one more answer, and so has each reader. */
  async untilEachIsAnswered(): Promise<void> {
    const before = this.#done;
    const isAnswered = () => this.#done.every((done, index) => done > (before[index] ?? 0));
    await eventually('an answer to each', isAnswered, LIMIT_MS).catch((error: Error) => {
      throw new Error(`${error.message} Before: ${before}; now: ${this.#done}.`);
    });
    await this.traffic.untilEachAnswered(1);
  }

  /** Acknowledged users that the gateway does not have. */
  async unreadable(): Promise<string[]> {
    const { edge, domains } = this.service.nodes;
    const connection = connectionIds.harborlight;
    const { apiKeys } = domains[0].process.demo();
    const key = apiKeys.find(({ instanceIntegrationIds }) =>
      instanceIntegrationIds.includes(connection),
    )?.key;
    const port = Number(edge.settings.GATEWAY_PORT);
    const headers = { 'x-api-key': key ?? '' };
    const users = this.writers.flatMap(({ acknowledged }, index) =>
      acknowledged.map((id) => `clients/${this.crowds[index]?.clientId}/users/${id}`),
    );
    const found = await forEachOf(users, AT_ONCE, async (path) => {
      const target = `/v1/instance-integrations/${connection}/${path}`;
      const { status } = await untilAnswered(() => exchange(port, target, { headers }));
      return status === 200 ? [] : [`${path} is answered ${status}`];
    });
    return found.flat();
  }

  get #done(): number[] {
    return [
      ...this.writers.map(({ acknowledged }) => acknowledged.length),
      ...this.crowds.map(({ moved }) => moved),
      ...this.tokenUsers.map(({ answered }) => answered),
    ];
  }
}

async function keepMoving(crowd: MovingCrowd, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await crowd.move();
    await pause(EDIT_PAUSE_MS);
  }
}
