import { Unfinished } from '../errors.js';
import { print, say } from '../output/print.js';
import { asJsonLine, printableLine } from '../output/printable.js';
import { ProgressBar } from '../output/progress-bar.js';
import { asTime } from '../output/table.js';
import type { Batch, Change, Difference, Store } from './sdk.js';

/** The width of the longest type, so that columns align. */
const TYPE_WIDTH = 'jobTitles'.length;
const numbers = new Intl.NumberFormat('en');

/** Passes batches on, and reports what becomes of the copy: sentences on stderr, changes on stdout. */
export class ReportedStore implements Store {
  /** The sequence was read to its end at least once. */
  isComplete = false;
  /** How often a comparison has found differences. */
  differed = 0;
  /** A comparison came to no result. */
  isUndecided = false;
  #isRepairing = false;
  #isLoading: boolean;
  #stored: number;
  /** Said once the gateway has accepted the cursor of the file: only then is its instance known. */
  #continuation: string | undefined;
  readonly #bar = new ProgressBar();

  constructor(
    private readonly store: Store,
    private readonly isFirstLoad: boolean,
    private readonly options: {
      to: string;
      once?: boolean;
      json?: boolean;
      continuation?: string | undefined;
    },
    /** How many entities there will be, if that is known. */
    private readonly total: number | undefined,
  ) {
    this.#isLoading = isFirstLoad;
    this.#continuation = options.continuation;
    this.#stored = entitiesOf(store);
  }

  cursor(): string | null {
    return this.store.cursor();
  }

  digests(): ReturnType<Store['digests']> {
    return this.store.digests();
  }

  apply(batch: Batch): void {
    if (this.#continuation !== undefined) {
      this.#say(this.#continuation);
      this.#continuation = undefined;
    }
    if (batch.isFirst && this.store.cursor() !== null && !this.#isRepairing) {
      this.#say(
        'The cursor has expired, because the service may lack some of what was read. Reading everything again.',
      );
    }
    this.store.apply(batch);
    // The store has ignored the page: it does not continue the store's cursor.
    if (this.store.cursor() !== batch.cursor) {
      throw new Unfinished('Another program writes to the file. Run one sync per file.');
    }
    this.#isLoading ||= batch.isFirst;
    this.#stores(batch);
    this.#isLoading &&= !batch.isLast;
    if (batch.isLast && !this.isComplete) {
      this.isComplete = true;
      if (!this.options.once) {
        this.complete('Following its changes; Ctrl-C ends.');
      }
    }
  }

  /** During a load, people see only the progress, not each entity. */
  #stores({ changes, isLast }: Batch): void {
    const { json } = this.options;
    if (json || !this.#isLoading) {
      this.#bar.clear();
      for (const change of changes) {
        print(json ? asJsonLine({ kind: 'change', ...factsOf(change) }) : lineOf(change));
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

  complete(note: string): void {
    const counts = countsOf(this.store);
    const entities = entitiesOf(this.store);
    if (this.options.json) {
      print(asJsonLine({ kind: 'complete', entities, counts }));
    }
    const list = Object.entries(counts).map(([type, count]) => `${type}: ${numbers.format(count)}`);
    const parts = list.length > 0 ? ` (${list.join(', ')})` : '';
    this.#say(printableLine(`${this.options.to} is complete: ${counted(entities)}${parts}. ${note}`));
  }

  differ(differences: readonly Difference[]): void {
    this.differed += 1;
    this.#isRepairing = true;
    if (this.options.json) {
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
