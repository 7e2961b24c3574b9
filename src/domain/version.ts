import { randomBase62 } from '../identifiers/base62.js';

const VERSION_LENGTH = 20;

/** A random value that every change replaces; equal versions mean equal answers. */
export function newVersion(): string {
  return randomBase62(VERSION_LENGTH);
}

/** What every row has that can be changed. */
export interface Versioned {
  version: string;
  createdAt: number;
  updatedAt: number;
}

/** What a new row begins with. */
export function madeAt(now: number): Versioned {
  return { version: newVersion(), createdAt: now, updatedAt: now };
}
