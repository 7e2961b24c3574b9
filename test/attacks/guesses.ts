import { expect } from '@jest/globals';
import { TURNS } from '../../src/domain/sign-on/sessions/guess-limits.js';
import { eventually } from '../support/eventually.js';

export interface Guessed<Answer> {
  checked: Answer[];
  refused: Answer[];
}

/**
 * Makes guesses of one password at once, more than are free. Repeats guesses that are answered 503. Such a
 * guess counts until it fails, so others may be refused in its place. If the guesses take seconds, further
 * turns come.
 */
export async function guessAtOnce<Answer extends { status: number }>(
  guesses: number,
  guess: (index: number) => Promise<Answer>,
): Promise<Guessed<Answer>> {
  const begunAt = performance.now();
  let busy = 0;
  const one = async (index: number) => {
    const answer = await guess(index);
    busy += answer.status === 503 ? 1 : 0;
    return answer.status !== 503 && answer;
  };
  const answers = await Promise.all(
    Array.from({ length: guesses }, (_, index) => eventually('an answer to a guess', () => one(index))),
  );
  // The intervals between turns grow by a step each: after n turns, n * (n + 1) / 2 steps have passed.
  const steps = (performance.now() - begunAt) / TURNS.stepMs;
  const turns = Math.floor((Math.sqrt(1 + 8 * steps) - 1) / 2);
  const checked = answers.filter(({ status }) => status !== 429);
  expect(checked.length).toBeGreaterThanOrEqual(TURNS.free - busy);
  expect(checked.length).toBeLessThanOrEqual(TURNS.free + turns);
  return { checked, refused: answers.filter(({ status }) => status === 429) };
}
