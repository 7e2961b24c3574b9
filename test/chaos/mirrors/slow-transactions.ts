import { createClient } from '../../../src/domain/platform/organization/clients.js';
import type { Changes, PlatformUnitOfWork } from '../../../src/domain/platform/unit-of-work.js';
import { platformUnitOfWork } from '../../../src/store/adapters/platform/unit-of-work.js';
import type { Database } from '../../../src/store/database.js';
import { carriedOut, RandomWrites } from '../../support/changes/random-writes.js';
import type { Acknowledged } from './acknowledged.js';

interface SlowWriter {
  clientId: string;
  writes: RandomWrites;
}

const WRITERS = 3;
/** What they write locks their own client only, so that others go on meanwhile. */
const KINDS = ['createLocation', 'createUnitType', 'onboardWorker', 'addJobTitle'];
const MOST_OTHERS = 40;
const ROLLED_BACK = 0.2;

class RolledBack extends Error {}

/**
 * Transactions on clients of their own that stay open until many later ones have committed. Some end without
 * a commit.
 */
export class SlowTransactions {
  /** The numbers of their beginnings, in the order in which they committed. */
  readonly committed: number[] = [];
  rolledBack = 0;
  #begun = 0;

  private constructor(
    private readonly platform: PlatformUnitOfWork,
    private readonly writers: readonly SlowWriter[],
    private readonly random: () => number,
  ) {}

  static async over(database: Database, instanceId: string, random: () => number): Promise<SlowTransactions> {
    const platform = platformUnitOfWork(database);
    const writers: SlowWriter[] = [];
    for (let number = 0; number < WRITERS; number += 1) {
      const creation = { instanceId, name: `Slow ${number}` };
      const { id: clientId } = await platform.run((changes) => createClient(changes, creation));
      writers.push({ clientId, writes: new RandomWrites(database, instanceId, random) });
    }
    return new SlowTransactions(platform, writers, random);
  }

  get clientIds(): string[] {
    return this.writers.map(({ clientId }) => clientId);
  }

  /** How many committed after one that had begun later. */
  get overtaken(): number {
    return this.committed.filter((number, index) =>
      this.committed.slice(0, index).some((earlier) => earlier > number),
    ).length;
  }

  /** Ends with the other writes. */
  async run(others: Acknowledged): Promise<void> {
    await Promise.all(
      this.writers.map(async (writer) => {
        while (!others.isOver) {
          await this.#write(writer, others);
        }
      }),
    );
  }

  async #write({ clientId, writes }: SlowWriter, others: Acknowledged): Promise<void> {
    const kind = KINDS[Math.floor(this.random() * KINDS.length)] as string;
    const { request, ...wish } = await writes.named(kind);
    const held = 1 + Math.floor(this.random() * MOST_OTHERS);
    const isLeft = this.random() < ROLLED_BACK;
    const number = this.#begun;
    this.#begun += 1;
    const work = async (changes: Changes) => {
      await carriedOut(changes, { ...wish, request: { ...request, clientId } });
      await others.untilMore(held);
      if (isLeft) {
        throw new RolledBack();
      }
    };
    try {
      await this.platform.run(work);
      this.committed.push(number);
    } catch (error) {
      if (!(error instanceof RolledBack)) {
        throw error;
      }
      this.rolledBack += 1;
    }
  }
}
