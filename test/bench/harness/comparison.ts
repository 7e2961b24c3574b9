import type { Scope } from './scope.js';

/** What a row promises: ours ÷ reference, held against a goal. */
export interface Terms {
  referenceName: string;
  goal: number;
  higherIsBetter: boolean;
}

/** A number for each row, by its name. */
export type Reading = Readonly<Record<string, number>>;

/** One round of each side. Both do the same work. */
export interface Sides {
  ours(): Promise<Reading>;
  reference(): Promise<Reading>;
}

/** Something that is measured in turn with its reference. */
export interface Comparison {
  /** By name, with the unit in it. Rows share a comparison when one round gives all of their numbers. */
  rows: Readonly<Record<string, Terms>>;
  /** Rounds that are thrown away, because code, caches and connections are still cold. */
  warmUpRounds: number;
  /** Rounds that count, unless the command line says how many. */
  rounds: number;
  /** Starts what both sides need; the scope ends it, however the comparison goes. */
  setUp(scope: Scope): Promise<Sides>;
}
