import { expect, test } from '@jest/globals';
import { untilSilent } from '../../../src/cli/supervisor/child.js';

const LIMIT_MS = 40;

/** Gives these answers in order, then repeats the last one; counts the questions. */
function asked(...answers: ('alive' | 'silent' | 'unknown')[]) {
  const questions: number[] = [];
  const ask = async (timeoutMs: number) => {
    questions.push(timeoutMs);
    return answers[Math.min(questions.length, answers.length) - 1] ?? 'unknown';
  };
  return { ask, questions };
}

test('a process that gives no answer is silent after the limit, asked four times', async () => {
  const { ask, questions } = asked('silent');
  expect(await untilSilent(ask, LIMIT_MS, new AbortController().signal)).toBe(true);
  expect(questions).toEqual([10, 10, 10, 10]);
});

test('one answer begins the count anew', async () => {
  const { ask, questions } = asked('silent', 'silent', 'silent', 'alive', 'silent');
  expect(await untilSilent(ask, LIMIT_MS, new AbortController().signal)).toBe(true);
  expect(questions).toHaveLength(8);
});

test('a question that could not be asked counts for neither', async () => {
  const { ask, questions } = asked('silent', 'silent', 'unknown', 'unknown', 'silent', 'unknown', 'silent');
  expect(await untilSilent(ask, LIMIT_MS, new AbortController().signal)).toBe(true);
  expect(questions).toHaveLength(7);
});

test('a watch that is ended does not judge', async () => {
  const ending = new AbortController();
  const { ask } = asked('silent');
  const watched = untilSilent(ask, 3_600_000, ending.signal);
  ending.abort();
  expect(await watched).toBe(false);
});
