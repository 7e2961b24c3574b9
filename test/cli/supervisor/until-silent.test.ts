import { expect, test } from '@jest/globals';
import { untilSilent } from '../../../src/cli/supervisor/until-silent.js';

const NO_ANSWER = false;
const LIMIT_MS = 40;

/** Answers as given, then as the last one, and counts. */
function asked(...answers: boolean[]) {
  const questions: number[] = [];
  const ask = async (timeoutMs: number) => {
    questions.push(timeoutMs);
    return answers[Math.min(questions.length, answers.length) - 1] as boolean;
  };
  return { ask, questions };
}

test('a process that gives no answer is silent after the limit, asked four times', async () => {
  const { ask, questions } = asked(NO_ANSWER);
  expect(await untilSilent(ask, LIMIT_MS, new AbortController().signal)).toBe(true);
  expect(questions).toEqual([10, 10, 10, 10]);
});

test('one answer begins the count anew', async () => {
  const { ask, questions } = asked(NO_ANSWER, NO_ANSWER, NO_ANSWER, true, NO_ANSWER);
  expect(await untilSilent(ask, LIMIT_MS, new AbortController().signal)).toBe(true);
  expect(questions).toHaveLength(8);
});

test('a watch that is ended does not judge', async () => {
  const ending = new AbortController();
  const { ask } = asked(NO_ANSWER);
  const watched = untilSilent(ask, 3_600_000, ending.signal);
  ending.abort();
  expect(await watched).toBe(false);
});
