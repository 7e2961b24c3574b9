import { invalidRequest, Violations } from '../../domain/platform/violations.js';
import { invalidField } from '../../errors/service-error.js';

type Unspoken = 'UNSPECIFIED' | 'UNRECOGNIZED';

type Words<Values> = {
  readonly [Name in Exclude<keyof Values & string, Unspoken> as Lowercase<Name>]: Values[keyof Values];
};

/** The values of an enum of the contract by the words of the domain, which are their names in lower case. */
export function words<Values extends Record<string, string>>(values: Values): Words<Values> {
  return Object.fromEntries(
    spoken(values).map(([name, value]) => [name.toLowerCase(), value]),
  ) as Words<Values>;
}

/** Converts an enum of the contract; unspecified and newer values become undefined. */
export function fromEnum<Ours extends string, Theirs extends string>(
  table: Record<Ours, Theirs>,
): (value: Theirs | undefined) => Exclude<Ours, Unspoken> | undefined {
  const names = new Map(spoken(table).map(([name, value]) => [value, name as Exclude<Ours, Unspoken>]));
  return (value) => value && names.get(value);
}

/** Refuses a value that only a newer release knows, where it would count as omitted, such as a filter. */
export function assertKnown(value: string, path: string): void {
  if (value === 'UNRECOGNIZED') {
    throw invalidRequest(path, 'must be a value that this version of the service knows');
  }
}

/** The words of a filter. Throws for unspecified and newer values, with what was found wrong before. */
export function filterOf<Ours, Theirs>(
  values: readonly Theirs[],
  from: (value: Theirs) => Ours | undefined,
  fault: string,
  violations = new Violations(),
): Ours[] {
  const words = values.flatMap((value, index) => {
    const word = from(value);
    if (word === undefined) {
      violations.add(`statuses[${index}]`, fault);
    }
    return word ?? [];
  });
  violations.throwIfAny();
  return words;
}

function spoken<Value extends string>(values: Record<string, Value>): [string, Value][] {
  return Object.entries(values).filter(([name]) => name !== 'UNSPECIFIED' && name !== 'UNRECOGNIZED');
}

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
