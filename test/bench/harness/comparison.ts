import type { Scope } from './scope.js';

/** What a row promises: ours ÷ reference, held against a goal if it has one. */
export interface Terms {
  referenceName: string;
  /** None where nothing is promised: the row tells how it is. */
  goal?: number | undefined;
  higherIsBetter: boolean;
}

/** A number for each row, by its name. */
export type Reading = Readonly<Record<string, number>>;

/** What the processes of a service take for a million of something: processor seconds, megabytes written. */
export interface Cost {
  edge: number;
  domain: number;
  worker: number;
  written: number;
}

export const COST_PARTS = ['edge', 'domain', 'worker', 'written'] as const satisfies readonly (keyof Cost)[];

/** A cost whose parts a function computes. */
export function costOf(of: (part: keyof Cost) => number): Cost {
  return Object.fromEntries(COST_PARTS.map((part) => [part, of(part)])) as unknown as Cost;
}

/** What has a published cost. */
export interface Priced {
  what: string;
  /** What most of it is, for those who want it to cost less. */
  limit: string;
}

/** Keeps the cost of a round; that of a warm-up round is thrown away. */
export type NoteCost = (cost: Cost) => void;

/** One round of each side. Both do the same work. */
export interface Sides {
  ours(): Promise<Reading>;
  reference(): Promise<Reading>;
}

/** Something that is measured in turn with its reference. */
export interface Comparison {
  /** By name, with the unit in it. Rows share a comparison when one round gives all of their numbers. */
  rows: Readonly<Record<string, Terms>>;
  /** Whose cost is published; other costs are thrown away. */
  priced?: Priced | undefined;
  /** Rounds that are thrown away, because code, caches and connections are still cold. */
  warmUpRounds: number;
  /** Rounds that count, unless the command line says how many. */
  rounds: number;
  /** Starts what both sides need; the scope ends it, however the comparison goes. */
  setUp(scope: Scope, noteCost: NoteCost): Promise<Sides>;
}
