import { setTimeout as pause } from 'node:timers/promises';

/** For what hangs; a little less than the limit of a test, so that a failure says what was not seen. */
const LIMIT_MS = 150_000;
const INTERVAL_MS = 25;

/** Polls for a state that raises no event here: of another process, or a socket to come. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = LIMIT_MS,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const seen = await look();
    if (seen) {
      return seen;
    }
    if (performance.now() > deadline) {
      throw new Error(`Not seen within ${limitMs} ms: ${what}.`);
    }
    await pause(INTERVAL_MS);
  }
}

/** Repeats a repeatable call until it succeeds, as across kills. */
export async function patiently<T>(what: string, ask: () => Promise<T>): Promise<T> {
  let reason: unknown;
  const answered = eventually(what, () =>
    ask().then(
      (answer) => ({ answer }),
      (error: unknown) => {
        reason = error;
        return undefined;
      },
    ),
  );
  const { answer } = await answered.catch((error: Error) => {
    throw new Error(`${error.message} The last reason: ${reason}`);
  });
  return answer;
}

/** For a wait that a test must not need: jest gives the test up first. */
export const LONGER_THAN_A_TEST_MS = 600_000;
