import { asFacts } from '../output/table.js';
import { UsageError } from '../usage-error.js';
import type { Shown } from './session.js';

/** Shows answers that have one thing, under this name: its facts, then remarks. */
export function showing<Name extends string, T>(
  name: Name,
  factsOf: (thing: T) => Parameters<typeof asFacts>[0],
): (answer: { [Field in Name]?: T | undefined }, ...remarks: readonly string[]) => Shown {
  return (answer, ...remarks) => ({
    json: answer,
    text: [asFacts(factsOf(answer[name] as T)), ...remarks].join('\n\n'),
  });
}

/** A secret, which can be shown only once. */
export function shownOnce(name: string, secret: string): string {
  return `${name}, shown this once:\n\n  ${secret}\n`;
}

/** The fields that were typed, as the mask of an update names them. */
export function updateMaskOf(
  fields: object,
  advice = 'Say what to change; --help lists what can be.',
): string[] {
  const mask = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  if (mask.length === 0) {
    throw new UsageError(advice);
  }
  return mask;
}
