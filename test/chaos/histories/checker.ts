import { join } from 'node:path';
import { answersOf, goProgram } from '../../support/kept-programs.js';
import type { Operation } from './history.js';

/** Unknown: the search took too long. */
export type Verdict = 'Ok' | 'Illegal' | 'Unknown';

/** The program in `checker/`. */
export function builtChecker(go: string): Promise<string> {
  return goProgram(go, {
    folder: join(import.meta.dirname, 'checker'),
    program: 'checker',
    place: 'porcupine/checker',
  });
}

/** By family, each within so many seconds; by itself a little less than the limit of a test. */
export async function verdictsOf(
  checker: string,
  operations: readonly Operation[],
  limitSeconds = 50,
): Promise<Map<string, Verdict>> {
  const lines = await answersOf(
    checker,
    ['-limit', `${limitSeconds}s`],
    operations.map((operation) => JSON.stringify(operation)),
  );
  return new Map(
    lines.map((line) => {
      const { family, verdict } = JSON.parse(line) as { family: string; verdict: Verdict };
      return [family, verdict];
    }),
  );
}

/** In the order of their calls, a line each. */
export function inWords(operations: readonly Operation[]): string {
  const start = Math.min(...operations.map(({ call }) => call));
  const seconds = (time = Number.POSITIVE_INFINITY) => ((time - start) / 1_000_000).toFixed(6);
  return [...operations]
    .sort((one, other) => one.call - other.call)
    .map(({ client, kind, token, call, return: returned, outcome, gives }) => {
      const result = gives === undefined ? outcome : `${outcome} ${gives}`;
      return `${seconds(call)} to ${seconds(returned)}: client ${client}, ${kind} ${token}: ${result}`;
    })
    .join('\n');
}
