import type { AuditEvent } from '../../../domain/operator/audit.js';
import { type AuditMac, fingerprintOf, hashOf, NO_HASH } from '../../../domain/operator/audit-chain.js';
import { newRecordId } from '../../../identifiers/record-id.js';
import type { Database, Writer } from '../../database.js';

interface Head {
  chain: string;
  seq: number;
  hash: string;
}

export interface Link extends Head {
  /** Whether the chain begins here. */
  isFirst: boolean;
}

/** The links that one transaction adds to a chain, which no other uses meanwhile. */
export interface ChainLinks {
  readonly mac: AuditMac;
  /** The next link; `insert` returns whether its predecessor exists. If not, a new chain begins. */
  add(event: AuditEvent, insert: (link: Link) => Promise<boolean>): Promise<void>;
}

const linksOfWriter = new WeakMap<Writer, ChainLinks>();

/** Those of the transaction; undefined before there is a key: `integration init` makes one. */
export function chainLinksOf(writer: Writer): ChainLinks | undefined {
  return linksOfWriter.get(writer);
}

/**
 * Continues a chain of this process in each transaction. Sequential transactions share one chain; concurrent
 * ones take free chains, so that none waits. Heads are kept in memory, and each insert checks its
 * predecessor.
 */
export function withAuditChains(
  database: Database,
  macIfAny: () => AuditMac | undefined,
  onBroken: (chain: string) => void = () => undefined,
): Database {
  const mac: AuditMac = (bytes) => (macIfAny() as AuditMac)(bytes);
  const begun = () => ({ chain: newChainId(mac), seq: 0, hash: NO_HASH });
  const free: Head[] = [];
  // In order: the next work runs before this commit is acknowledged, and continues its chain.
  const shared = database.writesInOrder ? new Lease(begun, mac, onBroken) : undefined;
  return {
    ...database,
    write: async (work, ...rest) => {
      const lease = shared ?? new Lease(() => free.pop() ?? begun(), mac, onBroken);
      let worked = false;
      try {
        const value = await database.write(
          async (writer) => {
            if (worked) {
              // After a failed commit, which may have succeeded: nothing may follow the old head.
              lease.abandon();
            }
            worked = false;
            const before = lease.head;
            if (macIfAny()) {
              linksOfWriter.set(writer, lease);
            }
            try {
              const done = await work(writer);
              worked = true;
              return done;
            } catch (error) {
              lease.head = before ?? lease.taken;
              throw error;
            } finally {
              linksOfWriter.delete(writer);
            }
          },
          ...rest,
        );
        if (!shared && lease.head) {
          free.push(lease.head);
        }
        return value;
      } catch (error) {
        // A refusal by the work itself is certainly rolled back.
        if (!shared && lease.head && !worked) {
          free.push(lease.head);
        }
        throw error;
      }
    },
  };
}

class Lease implements ChainLinks {
  head: Head | undefined;
  /** The head it took: other transactions continue from it after a rollback. */
  taken: Head | undefined;

  constructor(
    private readonly take: () => Head,
    readonly mac: AuditMac,
    private readonly onBroken: (chain: string) => void,
  ) {}

  async add(event: AuditEvent, insert: (link: Link) => Promise<boolean>): Promise<void> {
    if (!this.head) {
      this.taken = this.take();
      this.head = this.taken;
    }
    if (await this.#try(this.head, event, insert)) {
      return;
    }
    this.onBroken(this.head.chain);
    await this.#try({ chain: newChainId(this.mac), seq: 0, hash: NO_HASH }, event, insert);
  }

  abandon(): void {
    this.head = undefined;
    this.taken = undefined;
  }

  async #try(
    { chain, seq: last, hash: previous }: Head,
    event: AuditEvent,
    insert: (link: Link) => Promise<boolean>,
  ): Promise<boolean> {
    const seq = last + 1;
    const hash = hashOf(this.mac, { ...event, chain, seq }, previous);
    const done = await insert({ chain, seq, hash, isFirst: last === 0 });
    if (done) {
      this.head = { chain, seq, hash };
    }
    return done;
  }
}

function newChainId(mac: AuditMac): string {
  return `${newRecordId('ach')}.${fingerprintOf(mac)}`;
}
