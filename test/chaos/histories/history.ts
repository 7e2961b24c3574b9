import { eventually } from '../../support/eventually.js';

export type Kind = 'redeem' | 'refresh' | 'userinfo' | 'revoke';

/** Unknown: no answer, or one that says that it may have been done. */
export type Outcome = 'granted' | 'refused' | 'unknown';

/** What the checker reads: times in microseconds, tokens by short names. */
export interface Operation {
  family: string;
  client: number;
  kind: Kind;
  token: string;
  call: number;
  /** Absent where the outcome is unknown. */
  return?: number;
  outcome: Outcome;
  /** The refresh token in the answer. */
  gives?: string;
}

/** For what hangs: while a domain fails, a busy machine does few operations a second. */
const LIMIT_MS = 150_000;

/** What clients asked, and what they were told. */
export class History {
  readonly operations: Operation[] = [];

  readonly #waiting = new Map<number, (() => void)[]>();

  add(operation: Operation): void {
    const length = this.operations.push(operation);
    for (const resolve of this.#waiting.get(length) ?? []) {
      resolve();
    }
    this.#waiting.delete(length);
  }

  /** After so many more; never, if clients end before. */
  more(operations: number): Promise<void> {
    const end = this.operations.length + operations;
    return new Promise((resolve) => {
      this.#waiting.set(end, [...(this.#waiting.get(end) ?? []), resolve]);
    });
  }

  async untilMore(operations: number): Promise<void> {
    const end = this.operations.length + operations;
    await eventually(`${operations} more operations`, () => this.operations.length >= end, LIMIT_MS);
  }
}

export function microseconds(): number {
  return Math.round(performance.now() * 1_000);
}
