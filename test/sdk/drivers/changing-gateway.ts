import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type Answer, json, newServers, problem } from './scripted-server.js';

interface Entity {
  type: string;
  id: string;
  clientId: string;
  version: number;
  position: number;
  removed: boolean;
  resource: unknown;
}

/** What a copy has of an entity. */
export interface Copied {
  type: string;
  id: string;
  clientId: string;
  version: number;
  resource: unknown;
}

interface Held {
  after: number;
  answer: () => void;
}

const MODULUS = 2n ** 52n;
const address = {
  address1: null,
  address2: null,
  city: null,
  isoCountryCode: null,
  postalCode: null,
  zoneCode: null,
};

/** Stands for a gateway with the sequence of changes of an instance, which the test changes. */
export class ChangingGateway {
  /** Paths and queries. */
  readonly asked: string[] = [];
  pageSize = 2;
  /** An answer in place of the usual one. */
  instead: (path: string, count: number) => Answer | undefined = () => undefined;
  readonly #entities = new Map<string, Entity>();
  readonly #held = new Set<Held>();
  #observers: (() => void)[] = [];
  #isHolding = true;
  #position = 0;
  #readableTo = Number.POSITIVE_INFINITY;
  #life = 'a';

  constructor(
    server: Server,
    readonly url: string,
  ) {
    server.on('request', (request, response) => this.#answer(request, response));
  }

  addClient(id: string): void {
    this.set('client', id, { id, name: id, location: address }, id);
    this.set('jobTitles', id, ['Baker'], id);
  }

  /** Adds an entity, or replaces it. */
  set(type: string, id: string, resource: unknown = { id, name: `${type} ${id}` }, clientId = 'cli_1'): void {
    this.#place({ type, id, clientId, removed: false, resource });
  }

  remove(type: string, id: string): void {
    const { clientId } = this.#entities.get(`${type} ${id}`) as Entity;
    this.#place({ type, id, clientId, removed: true, resource: null });
  }

  /** Changes an entity in its place, so that readers miss it. */
  slip(type: string, id: string, resource: unknown): void {
    const entity = this.#entities.get(`${type} ${id}`) as Entity;
    this.#entities.set(`${type} ${id}`, { ...entity, version: entity.version - 1, resource });
  }

  /** Changes from now on cannot be read until `show`, as while an older transaction is open. */
  hide(): void {
    this.#readableTo = this.#position;
  }

  show(): void {
    this.#readableTo = Number.POSITIVE_INFINITY;
    this.#release();
  }

  /** Forgets an entity as if it had never been, as a restore from a backup does; no cursor is valid then. */
  restoreWithout(type: string, id: string): void {
    this.#entities.delete(`${type} ${id}`);
    this.#life += 'a';
    this.#release();
  }

  /** What a copy should have, in the order of the ids. */
  entities(): Copied[] {
    return [...this.#entities.values()]
      .filter(({ removed }) => !removed)
      .map(({ removed, position, ...rest }) => rest)
      .sort(byTypeAndId);
  }

  /** Resolves when a reader has read all and waits for more. */
  async caughtUp(): Promise<void> {
    await this.until(() => [...this.#held].some(({ after }) => after === this.#position));
  }

  /** Resolves when it is so after a request. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      await new Promise<void>((resolve) => this.#observers.push(resolve));
    }
  }

  /** Answers at once what waits, now and from now on. */
  stopHolding(): void {
    this.#isHolding = false;
    this.#release();
  }

  #place(changed: Omit<Entity, 'position' | 'version'>): void {
    this.#position += 1;
    // Near the modulus of the digests, so that sums exceed it.
    const version = 2 ** 52 - this.#position * 3;
    this.#entities.set(`${changed.type} ${changed.id}`, { ...changed, position: this.#position, version });
    this.#release();
  }

  #release(): void {
    for (const held of [...this.#held]) {
      this.#held.delete(held);
      held.answer();
    }
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    this.asked.push(path);
    const asked = { method: 'GET', path, headers: request.headers, body: '', at: performance.now() };
    const instead = this.instead(path, this.asked.length);
    if (instead) {
      instead(response, asked);
    } else {
      this.#usual(new URL(path, this.url), response, (answer) => answer(response, asked));
    }
    this.#observed();
  }

  #usual({ pathname, searchParams }: URL, response: ServerResponse, send: (answer: Answer) => void): void {
    if (pathname.endsWith('/clients')) {
      const clients = this.entities().filter(({ type }) => type === 'client');
      send(json(clients.map(({ resource }) => resource)));
    } else if (pathname.endsWith('/digest')) {
      send(json(this.#digestOf(searchParams.get('clientId') ?? '')));
    } else {
      this.#sequence(searchParams, response, send);
    }
  }

  #sequence(query: URLSearchParams, response: ServerResponse, send: (answer: Answer) => void): void {
    const [life, position] = (query.get('after') ?? `${this.#life}.0`).split('.');
    const after = Number(position);
    if (life !== this.#life) {
      send(problem(410, 'cursor_expired'));
    } else if (query.has('wait') && this.#isHolding && after === this.#position) {
      const held = { after, answer: () => this.#sequence(query, response, send) };
      this.#held.add(held);
      response.once('close', () => this.#held.delete(held));
    } else {
      send(this.#page(after, query.has('after')));
    }
  }

  #page(after: number, isContinued: boolean): Answer {
    const following = [...this.#entities.values()]
      .filter(({ position }) => position > after && position <= this.#readableTo)
      .filter(({ removed }) => isContinued || !removed)
      .sort((one, other) => one.position - other.position);
    const items = following.slice(0, this.pageSize).map(({ type, id, position, ...rest }) => ({
      cursor: `${this.#life}.${position}`,
      entity: { type, id },
      changedAt: '2026-06-11T16:02:19.350Z',
      ...rest,
    }));
    const link = `<?after=${items.at(-1)?.cursor}>; rel="next"`;
    return json(items, following.length > items.length ? { link } : {});
  }

  #digestOf(clientId: string) {
    const own = this.entities().filter((entity) => entity.clientId === clientId);
    const types = [...new Set(['worker', ...own.map(({ type }) => type)])];
    const entities = types.map((type) => {
      const versions = own.filter((entity) => entity.type === type).map(({ version }) => BigInt(version));
      const sum = versions.reduce((total, version) => total + version, 0n);
      return { type, count: versions.length, digest: Number(sum % MODULUS) };
    });
    return { clientId, entities };
  }

  #observed(): void {
    const observers = this.#observers;
    this.#observers = [];
    for (const observe of observers) {
      observe();
    }
  }
}

export function byTypeAndId(one: Copied, other: Copied): number {
  return `${one.type} ${one.id}` < `${other.type} ${other.id}` ? -1 : 1;
}

/** Call it where a group of tests is described. */
export const changingGateways = () => newServers((server, url) => new ChangingGateway(server, url));
