import { isDeepStrictEqual } from 'node:util';
import { NOT_AUDITED, snakeCase } from './changes.js';
import type { Changes, PlatformRows } from './unit-of-work.js';

/** The row sets of the changes, and the kind of their rows. */
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
  integrationNotices: 'integration_notice',
  sessions: 'session',
  grants: 'grant',
  consents: 'consent',
} as const satisfies Record<keyof PlatformRows, string>;

type Kind = (typeof KINDS)[keyof typeof KINDS];

type RowMethod = { [Name in keyof PlatformRows]: keyof PlatformRows[Name] }[keyof PlatformRows];

/** Whether a method of the rows only reads. The type requires all methods. */
const READS: Readonly<Record<RowMethod, boolean>> = {
  ...{ add: false, assign: false, delete: false, deleteOfAccount: false, end: false, endOfAccount: false },
  ...{ give: false, insert: false, keepNewest: false, noteContexts: false, noteSeen: false, put: false },
  ...{ remove: false, revoke: false, revokeOfAccount: false, revokeOfApplication: false },
  ...{ revokeOfSession: false, rewrite: false, rotate: false, set: false, take: false, unassign: false },
  ...{ update: false, use: false, withdraw: false },
  ...{ anyOf: true, clientsOf: true, contextsOf: true, count: true, countReports: true, countUpTo: true },
  ...{ eventBytesUpTo: true, countWithRole: true, find: true, findAll: true, findByEmail: true },
  ...{ findByLink: true, findByName: true, findByToken: true, firstOwner: true, formerContextsOf: true },
  ...{
    has: true,
    hasUnits: true,
    ids: true,
    integrationsOf: true,
    isBelow: true,
    names: true,
    namesAround: true,
  },
  ...{ ofAccount: true, ownerOf: true, page: true, reportsTo: true, sizes: true, withRole: true },
};

/** Without fields: only the write itself is recorded. */
const WHOLE: ReadonlySet<Kind> = new Set([
  'password',
  'job_title',
  'email_change',
  'notice',
  'integration_notice',
]);

/** The latest reads are remembered to detect changes, but not a whole client of workers. */
const MOST_REMEMBERED = 1_000;
const MOST_FIELDS = 50;
const MOST_OTHERS = 10;

type Row = Readonly<Record<string, unknown>>;

/** What one write did, for the audit log: ids and names of fields, never a value. */
export class Trail {
  readonly #read = new Map<string, Row>();
  readonly #fields = new Set<string>();
  readonly #ids = new Set<string>();
  readonly #watchedRows = new Map<Kind, object>();
  #isWritten = false;
  #isRecorded = false;

  /** Whether a write is not covered by a record yet. */
  get isUntold(): boolean {
    return this.#isWritten && !this.#isRecorded;
  }

  /** The changes, watched. */
  over(changes: Changes): Changes {
    const audit: Changes['audit'] = (...args) => {
      this.#isRecorded = true;
      return changes.audit(...args);
    };
    return new Proxy(changes, {
      get: (_, name: keyof Changes) => {
        if (name === 'audit') {
          return audit;
        }
        return isKind(name) ? this.#watched(changes[name], KINDS[name]) : changes[name];
      },
    });
  }

  /** Fields of things other than the subject are prefixed with their kind. */
  attributes(subject: { type: string; id: string }): Record<string, string> {
    const own = `${subject.type}.`;
    const names = [...this.#fields].map((name) => (name.startsWith(own) ? name.slice(own.length) : name));
    const others = [...this.#ids].filter((id) => id !== subject.id);
    return {
      ...(names.length > 0 && { fields: listed(names.sort(), MOST_FIELDS) }),
      ...alsoOf(others),
    };
  }

  #watched(rows: object, kind: Kind): object {
    const present = this.#watchedRows.get(kind);
    if (present) {
      return present;
    }
    const watched = new Proxy(rows, {
      get: (target, method) => {
        const original = Reflect.get(target, method);
        if (typeof original !== 'function' || typeof method !== 'string') {
          return original;
        }
        return async (...args: unknown[]) => {
          const done = await original.apply(target, args);
          if (READS[method as RowMethod]) {
            this.#remember(done);
          } else if (done !== false && done !== 0) {
            // A conditional write reports that it changed nothing.
            for (const written of [args[0]].flat()) {
              this.#note(kind, method, written);
            }
          }
          return done;
        };
      },
    });
    this.#watchedRows.set(kind, watched);
    return watched;
  }

  #remember(found: unknown): void {
    for (const row of Array.isArray(found) ? found : [found]) {
      if (isRow(row) && typeof row.id === 'string') {
        this.#keep(row.id, row);
      }
    }
  }

  #keep(id: string, row: Row): void {
    this.#read.set(id, row);
    if (this.#read.size > MOST_REMEMBERED) {
      const [oldest = ''] = this.#read.keys();
      this.#read.delete(oldest);
    }
  }

  #note(kind: Kind, method: string, written: unknown): void {
    const row = isRow(written) ? written : {};
    const id = typeof row.id === 'string' ? row.id : undefined;
    const before = id === undefined ? undefined : this.#read.get(id);
    const changed = Object.keys(row).filter((name) =>
      before ? !isSame(before[name], row[name]) : row[name] !== null && row[name] !== undefined,
    );
    if (before && changed.length === 0) {
      return;
    }
    this.#isWritten = true;
    if (WHOLE.has(kind)) {
      this.#fields.add(kind);
    } else if (id !== undefined && kind !== 'session' && kind !== 'grant') {
      this.#addId(id);
      for (const name of changed) {
        if (!NOT_AUDITED.has(name) && this.#fields.size <= MOST_FIELDS) {
          this.#fields.add(`${kind}.${snakeCase(name)}`);
        }
      }
      // Some methods write a part of the row only.
      this.#keep(id, { ...before, ...row });
    }
    if (method === 'delete' && typeof written === 'string') {
      this.#addId(written);
    }
  }

  #addId(id: string): void {
    if (this.#ids.size <= MOST_OTHERS + 1) {
      this.#ids.add(id);
    }
  }
}

/** The attribute that names things other than the subject. */
export function alsoOf(ids: readonly string[]): { also?: string } {
  return ids.length > 0 ? { also: listed(ids, MOST_OTHERS) } : {};
}

function isKind(name: string): name is keyof typeof KINDS {
  return Object.hasOwn(KINDS, name);
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null;
}

/** The general comparison costs much more than that of two texts. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || isDeepStrictEqual(one, other);
}

function listed(names: readonly string[], most: number): string {
  return names.length > most ? `${names.slice(0, most).join(' ')} …` : names.join(' ');
}
