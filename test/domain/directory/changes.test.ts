import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ClientId, InstanceId, InstanceIntegrationId } from '../../../generated/ids.js';
import { sequenceOf } from '../../../src/domain/directory/changes.js';
import type { Schemas } from '../../../src/domain/directory/contract-json.js';
import type { ChangeStore, StoredChange } from '../../../src/domain/directory/stores.js';
import { ErrorCode } from '../../../src/errors/service-error.js';
import { cursors } from '../../support/changes/cursors.js';

const worker: StoredChange = {
  ...{ type: 'worker', id: 'wrk_l50ycP5H6CnQHxa7Xt2y3d', clientId: 'cli_4Fqnh5226raKAAEIfY2jwW' as ClientId },
  ...{ position: 1_000_003, version: 481_730_294_553, removed: false, changedAt: 1 },
};

const INSTANCE_INTEGRATION_ID = 'iin_HnuQOy4YQg1OdOSCDbMAkY' as InstanceIntegrationId;
const visitor = { instanceId: 'ins_3p6PT9wVyh5HYgpDAJEJd8' as InstanceId } as never;

async function versionOf(found: readonly StoredChange[], life = '8c1f02d4a7b9'): Promise<string> {
  const changes = {
    lives: async () => ({ lives: [{ life, lastPosition: null }], end: 2_000_000 }),
    page: async () => found,
  };
  const { version } = await sequenceOf({ changes, cursors } as never, visitor, {
    instanceIntegrationId: INSTANCE_INTEGRATION_ID,
  });
  return version;
}

test('the version of a page is of its changes and their life', async () => {
  const version = await versionOf([worker]);
  for (const other of [
    [],
    [worker, worker],
    [{ ...worker, version: worker.version + 1 }],
    [{ ...worker, id: 'wrk_0000000000000000000000' }],
    [{ ...worker, type: 'user' as const }],
  ]) {
    await expect(versionOf(other)).resolves.not.toBe(version);
  }
  await expect(versionOf([worker], '000000000000')).resolves.not.toBe(version);
});

test('the version of a page discloses no positions, which a reader who knows the rest could guess', async () => {
  const elsewhere = { ...worker, position: worker.position + 1 };
  await expect(versionOf([elsewhere])).resolves.toBe(await versionOf([worker]));
});

describe('a reader of changes whose transactions commit in any order', () => {
  const ENTITIES = 4;
  const idOf = (entity: number) => `wrk_${String(entity).padStart(22, '0')}`;

  /** What PostgreSQL stores: the newest committed change of each entity, at the number of its transaction. */
  class Model {
    readonly committed = new Map<string, StoredChange>();
    readonly #open: { position: number; writes: Map<string, boolean> }[] = [];
    #next = 100;

    get end(): number {
      return this.#open[0]?.position ?? this.#next;
    }

    get present(): StoredChange[] {
      return [...this.committed.values()].filter(({ removed }) => !removed);
    }

    begin(): void {
      this.#open.push({ position: this.#next++, writes: new Map() });
    }

    /** Each entity is locked by the transaction that writes it. */
    write(entity: number, removed: boolean, which = this.#open.length - 1): void {
      const id = idOf(entity);
      const isPresent = this.committed.get(id)?.removed === false;
      if (this.#open.every(({ writes }) => !writes.has(id)) && (isPresent || !removed)) {
        this.#open[which]?.writes.set(id, removed);
      }
    }

    commit(which = this.#open.length - 1): void {
      for (const { position, writes } of this.#open.splice(which, 1)) {
        for (const [id, removed] of writes) {
          this.committed.set(id, { ...worker, id, position, version: position, removed });
        }
      }
    }

    change(entity: number, removed: boolean): void {
      this.begin();
      this.write(entity, removed);
      this.commit();
    }

    commitAll(): void {
      while (this.#open.length > 0) {
        this.commit(0);
      }
    }
  }

  interface Reading {
    limit: number;
    /** Of the items of a page. */
    stored: number;
    /** An entity that is removed after the page was read. */
    removed: number;
    /** Goes on where the header says, and not behind the last item. */
    takesLink: boolean;
  }

  /** `later`: it is asked to try again in some seconds. */
  type Came = 'on' | 'to the end' | 'later';

  class Reader {
    readonly copy = new Map<string, number>();
    cursor: string | undefined;
    /** Of the last page. */
    items = 0;

    constructor(readonly model: Model) {}

    async read(asked: Reading): Promise<Came> {
      try {
        return await this.#read(asked);
      } catch (error) {
        expect(error).toMatchObject({ code: ErrorCode.UNAVAILABLE });
        return 'later';
      }
    }

    async #read({ limit, stored, takesLink, removed }: Reading): Promise<Came> {
      const sequence = await sequenceOf(this.#dependencies(removed), visitor, {
        ...{
          instanceIntegrationId: INSTANCE_INTEGRATION_ID,
          limit,
          ...(this.cursor !== undefined && { cursor: this.cursor }),
        },
      });
      const { rows, nextCursor } = await sequence.page();
      const items = rows.slice(0, stored).map(({ json }) => JSON.parse(json) as Schemas['Change']);
      for (const { entity, removed: isRemoved, version } of items) {
        if (isRemoved) {
          this.copy.delete(entity.id);
        } else {
          this.copy.set(entity.id, version);
        }
      }
      this.items = items.length;
      const isWhole = stored >= rows.length;
      const next = isWhole && takesLink ? nextCursor : undefined;
      this.cursor = next ?? items.at(-1)?.cursor ?? this.cursor;
      return isWhole && nextCursor === undefined ? 'to the end' : 'on';
    }

    #dependencies(removed: number) {
      const { model } = this;
      const changes: Pick<ChangeStore, 'lives' | 'newestOf' | 'page'> = {
        lives: async () => ({ lives: [{ life: '8c1f02d4a7b9', lastPosition: null }], end: model.end }),
        newestOf: async () => Math.max(0, ...[...model.committed.values()].map(({ position }) => position)),
        page: async (_, { after, before, removedAfter, limit }) =>
          [...model.committed.values()]
            .filter(({ position, id }) =>
              position === after.position ? id > after.id : position > after.position && position < before,
            )
            .filter((found) => !found.removed || found.position > removedAfter)
            .sort((a, b) => a.position - b.position || (a.id < b.id ? -1 : 1))
            .slice(0, limit),
      };
      const activeOf = async (ids: string) => {
        model.change(removed, true);
        return model.present.filter(({ id }) => ids.includes(id)).map(({ id }) => ({ id, json: '{}' }));
      };
      const others = { clients: {}, users: {}, organization: {} };
      return { ...others, changes, cursors, workers: { activeOf } } as never;
    }
  }

  const entity = fc.nat(ENTITIES - 1);
  const reading = fc.record<Reading>({
    limit: fc.integer({ min: 1, max: ENTITIES }),
    stored: fc.integer({ min: 1, max: ENTITIES }),
    removed: fc.nat(4 * ENTITIES),
    takesLink: fc.boolean(),
  });
  const toTheEnd = (one: Reading) => ({ ...one, stored: one.limit, removed: ENTITIES });
  const step = fc.oneof(
    fc.constant((model: Model) => model.begin()),
    fc.tuple(entity, fc.boolean()).map((change) => (model: Model) => model.change(...change)),
    fc.tuple(entity, fc.boolean(), fc.nat(1)).map((change) => (model: Model) => model.write(...change)),
    fc.nat(1).map((which) => (model: Model) => model.commit(which)),
  );

  test('has all that exists when its load ends, always comes to an end, and misses no change after it', async () => {
    const steps = fc.array(fc.oneof({ weight: 3, arbitrary: step }, reading), {
      minLength: 30,
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(steps, reading.map(toTheEnd), async (taken, last) => {
        const model = new Model();
        const reader = new Reader(model);
        let isLoading = true;
        for (const one of taken) {
          if (typeof one === 'function') {
            one(model);
          } else if ((await reader.read(one)) === 'to the end' && isLoading) {
            expect([...reader.copy.keys()]).toEqual(
              expect.arrayContaining(model.present.map(({ id }) => id)),
            );
            isLoading = reader.cursor === undefined;
          }
        }
        const readToEnd = async () => {
          let [came, reads] = ['on', 0];
          while (came === 'on' && reads < 2 * ENTITIES) {
            came = await reader.read(last);
            reads += 1;
          }
          return came;
        };
        const came = await readToEnd();
        expect(came).not.toBe('on');
        if (came === 'to the end' && reader.cursor !== undefined) {
          await reader.read(last);
          expect(reader.items).toBe(0);
        }
        model.commitAll();
        expect(await readToEnd()).toBe('to the end');
        expect(reader.copy).toEqual(new Map(model.present.map(({ id, version }) => [id, version])));
      }),
      { numRuns: 1_000 },
    );
  });
});
