import type { PostgresLimits } from '../../../src/store/dialects/postgres/postgres.js';

const LIMIT_MS = 60_000;
const server = { lockMs: LIMIT_MS, statementMs: LIMIT_MS, idleMs: LIMIT_MS };

/** On a busy machine a write waits long for its turn; tests of these limits set others. */
export const PATIENT: PostgresLimits = {
  ...{ server, connectMs: LIMIT_MS, answerMs: LIMIT_MS, askMs: 10_000 },
  ...{ quick: { server, answerMs: LIMIT_MS }, longLockMs: LIMIT_MS, turnMs: LIMIT_MS },
};
