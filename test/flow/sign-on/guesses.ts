import { expect } from '@jest/globals';
import { TURNS } from '../../../src/domain/sign-on/sessions/guess-limits.js';
import { eventually } from '../../support/eventually.js';

export interface Guessed<Answer> {
  checked: Answer[];
  refused: Answer[];
}

/**
 * Makes guesses of one password at once, more than are free. Repeats those that find the service too busy:
 * they were counted, so the repetition is often one too many. On a busy machine the next turn may come.
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
  const turns = Math.floor((performance.now() - begunAt) / TURNS.stepMs);
  const checked = answers.filter(({ status }) => status !== 429);
  expect(checked.length).toBeGreaterThanOrEqual(TURNS.free - busy);
  expect(checked.length).toBeLessThanOrEqual(TURNS.free + turns);
  return { checked, refused: answers.filter(({ status }) => status === 429) };
}
