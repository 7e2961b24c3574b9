import { print, say } from '../output/print.js';
import { asJsonLine, printableLine } from '../output/printable.js';
import { ProgressBar } from '../output/progress-bar.js';
import { asTime } from '../output/table.js';
import type { Batch, Change, Difference, Store } from './sdk.js';

/** The width of the longest type, so that columns align. */
const TYPE_WIDTH = 'jobTitles'.length;
const numbers = new Intl.NumberFormat('en');

/** Reports what happens to the copy: sentences and progress on stderr, changes on stdout. */
export class SyncLines {
  /** How often a comparison has found differences. */
  differed = 0;
  /** A comparison came to no result. */
  isUndecided = false;
  #isRepairing = false;
  #stored: number;
  readonly #bar = new ProgressBar();

  constructor(
    store: Store,
    readonly isFirstLoad: boolean,
    private readonly file: string,
    private readonly json: boolean | undefined,
    /** How many entities there will be, if that is known. */
    private readonly total: number | undefined,
  ) {
    this.#stored = entitiesOf(store);
  }

  /** Before everything is read again. */
  beginsAnew(): void {
    if (!this.#isRepairing) {
      this.#say(
        'The cursor has expired, because the service may lack some of what was read. Reading everything again.',
      );
    }
  }

  /** During a load, people see only the progress, not each entity. */
  stored({ changes, isLast }: Batch, isLoading: boolean): void {
    if (this.json || !isLoading) {
      this.#bar.clear();
      for (const change of changes) {
        print(this.json ? asJsonLine({ kind: 'change', ...factsOf(change) }) : lineOf(change));
      }
    } else {
      this.#stored += changes.filter(({ removed }) => !removed).length;
      this.#showProgress();
    }
    if (isLast && this.#isRepairing) {
      this.#isRepairing = false;
      this.#say('Everything was read again.');
    }
  }

  complete(store: Store, note: string): void {
    const counts = countsOf(store);
    const entities = entitiesOf(store);
    if (this.json) {
      print(asJsonLine({ kind: 'complete', entities, counts }));
    }
    const list = Object.entries(counts).map(([type, count]) => `${type}: ${numbers.format(count)}`);
    const parts = list.length > 0 ? ` (${list.join(', ')})` : '';
    this.#say(printableLine(`${this.file} is complete: ${counted(entities)}${parts}. ${note}`));
  }

  differ(differences: readonly Difference[]): void {
    this.differed += 1;
    this.#isRepairing = true;
    if (this.json) {
      for (const difference of differences) {
        print(asJsonLine({ kind: 'difference', ...difference }));
      }
    }
    this.#say('The copy differs from the gateway:');
    for (const { clientId, type, count, storedCount } of differences) {
      const how =
        count === storedCount
          ? `${count} in both, in other versions`
          : `${storedCount} in the file, ${count} at the gateway`;
      say(`  ${printableLine(`${type} of ${clientId}: ${how}`)}`);
    }
  }

  failed(error: Error): void {
    this.#say(`${printableLine(error.message)} Trying again; Ctrl-C ends.`);
  }

  end(): void {
    this.#bar.clear();
  }

  #showProgress(): void {
    const { total } = this;
    const stored = this.isFirstLoad && !this.#isRepairing ? this.#stored : undefined;
    const share = stored !== undefined && total ? stored / total : undefined;
    const words = stored === undefined ? 'Reading everything again' : counted(stored);
    this.#bar.show(share, total && share !== undefined ? `${words} of ${numbers.format(total)}` : words);
  }

  #say(text: string): void {
    this.#bar.clear();
    say(text);
  }
}

export function counted(entities: number): string {
  return `${numbers.format(entities)} ${entities === 1 ? 'entity' : 'entities'}`;
}

export function entitiesOf(store: Store): number {
  return store.digests().reduce((sum, { count }) => sum + count, 0);
}

function countsOf(store: Store): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { type, count } of store.digests()) {
    counts[type] = (counts[type] ?? 0) + count;
  }
  return Object.fromEntries(Object.entries(counts).sort());
}

function factsOf({ type, id, clientId, removed, changedAt, version }: Change) {
  return { type, id, clientId, removed, changedAt, version };
}

function lineOf({ type, id, removed, changedAt }: Change): string {
  const state = removed ? 'removed' : 'changed';
  return [asTime(changedAt), printableLine(type).padEnd(TYPE_WIDTH), state, printableLine(id)].join('  ');
}
