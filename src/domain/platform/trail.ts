import { isDeepStrictEqual } from 'node:util';
import { snakeCase, UNTOLD } from './changes.js';
import type { Changes } from './unit-of-work.js';

/** The rows of the changes that hold things; what a row set is called, and the kind of thing in it. */
const KINDS = {
  instances: 'instance',
  clients: 'client',
  accounts: 'account',
  roles: 'role',
  users: 'user',
  unitTypes: 'unit_type',
  units: 'unit',
  locations: 'location',
  jobTitles: 'job_title',
  workers: 'worker',
  passwords: 'password',
  links: 'link',
  emailChanges: 'email_change',
  notices: 'notice',
  sessions: 'session',
  grants: 'grant',
} as const satisfies { [Name in keyof Changes]?: string };

/** Any other method is a write: one that is forgotten here leaves a record too many, not one too few. */
const READS: ReadonlySet<string> = new Set([
  ...[
    'find',
    'findAll',
    'findActive',
    'findByEmail',
    'findByName',
    'findByToken',
    'findByLink',
    'page',
    'has',
    'hasUnits',
  ],
  ...['anyOf', 'contextsOf', 'firstOwner', 'integrationsOf', 'names', 'ofAccount', 'ownerOf', 'withRole'],
]);

/** These have no fields worth telling: that one was written is what there is to tell. */
const WHOLE: ReadonlySet<string> = new Set(['password', 'job_title', 'email_change', 'notice']);

/** What a write reads is remembered to know what it changed, but not a whole client of workers. */
const MOST_REMEMBERED = 1_000;
const MOST_FIELDS = 50;
const MOST_OTHERS = 10;

type Row = Readonly<Record<string, unknown>>;

/** What one write did, as the audit log may tell it: ids and names of fields, never a value. */
export class Trail {
  readonly #read = new Map<string, Row>();
  readonly #fields = new Set<string>();
  readonly #ids = new Set<string>();
  #isWritten = false;
  #isRecorded = false;

  /** Whether anything was written that no record tells of yet. */
  get isUntold(): boolean {
    return this.#isWritten && !this.#isRecorded;
  }

  /** The changes, watched. */
  over(changes: Changes): Changes {
    const watched: Record<string, unknown> = {
      ...changes,
      audit: (...args: Parameters<Changes['audit']>) => {
        this.#isRecorded = true;
        return changes.audit(...args);
      },
    };
    for (const [name, kind] of Object.entries(KINDS)) {
      watched[name] = this.#watched(changes[name as keyof typeof KINDS], kind);
    }
    return watched as unknown as Changes;
  }

  /** Fields of other things than the subject have the name of the thing before them. */
  attributes(subject: { type: string; id: string }): Record<string, string> {
    const own = `${subject.type}.`;
    const names = [...this.#fields].map((name) => (name.startsWith(own) ? name.slice(own.length) : name));
    const others = [...this.#ids].filter((id) => id !== subject.id);
    return {
      ...(names.length > 0 && { fields: listed(names.sort(), MOST_FIELDS) }),
      ...(others.length > 0 && { also: listed(others, MOST_OTHERS) }),
    };
  }

  #watched(rows: object, kind: string): object {
    return new Proxy(rows, {
      get: (target, method) => {
        const original = Reflect.get(target, method);
        if (typeof original !== 'function' || typeof method !== 'string') {
          return original;
        }
        return READS.has(method)
          ? async (...args: unknown[]) => this.#remember(await original.apply(target, args))
          : async (...args: unknown[]) => {
              const done = await original.apply(target, args);
              // A conditional write says that it changed nothing.
              if (done !== false && done !== 0) {
                this.#note(kind, method, args[0]);
              }
              return done;
            };
      },
    });
  }

  #remember<T>(found: T): T {
    for (const row of Array.isArray(found) ? found : [found]) {
      if (isRow(row) && typeof row.id === 'string' && this.#read.size < MOST_REMEMBERED) {
        this.#read.set(row.id, row);
      }
    }
    return found;
  }

  #note(kind: string, method: string, written: unknown): void {
    if (isRow(written) && this.#isAsItWas(written)) {
      return;
    }
    this.#isWritten = true;
    // What is ended was perhaps not there: that there was a write is told, no field.
    if (WHOLE.has(kind) && !method.startsWith('end')) {
      this.#fields.add(kind);
    }
    if (!isRow(written)) {
      if (method === 'delete' && typeof written === 'string') {
        this.#addId(written);
      }
      return;
    }
    const { id } = written;
    if (typeof id !== 'string' || WHOLE.has(kind) || kind === 'session' || kind === 'grant') {
      return;
    }
    this.#addId(id);
    const before = this.#read.get(id);
    for (const [name, value] of Object.entries(written)) {
      const isChanged = before
        ? !isDeepStrictEqual(before[name], value)
        : value !== null && value !== undefined;
      if (isChanged && !UNTOLD.has(name) && this.#fields.size <= MOST_FIELDS) {
        this.#fields.add(`${kind}.${snakeCase(name)}`);
      }
    }
    this.#read.set(id, written);
  }

  #isAsItWas(written: Row): boolean {
    const before = typeof written.id === 'string' ? this.#read.get(written.id) : undefined;
    return (
      before !== undefined &&
      Object.keys(written).every((name) => isDeepStrictEqual(before[name], written[name]))
    );
  }

  #addId(id: string): void {
    if (this.#ids.size <= MOST_OTHERS + 1) {
      this.#ids.add(id);
    }
  }
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null;
}

function listed(names: readonly string[], most: number): string {
  return names.length > most ? `${names.slice(0, most).join(' ')} …` : names.join(' ');
}
