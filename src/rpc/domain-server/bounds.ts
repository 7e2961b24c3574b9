import { invalidField } from '../../errors/service-error.js';

const MAX_UINT32 = 0xffff_ffff;

/** A time as a field of 32 bits: the clock may have been set back, however far, since what it counts from. */
export function boundedMs(ms: number): number {
  return Math.min(MAX_UINT32, Math.max(0, Math.floor(ms)));
}

export function assertBetween(value: number, least: number, most: number, path: string): void {
  if (value < least || value > most) {
    throw invalidField('A number is out of bounds.', path, `must be between ${least} and ${most}`);
  }
}

export function assertNotMore(list: readonly unknown[], most: number, path: string): void {
  if (list.length > most) {
    throw invalidField('The request has too many entries.', path, `must be ${most} at most`);
  }
}
