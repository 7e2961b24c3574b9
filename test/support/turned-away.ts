import { eventually } from './eventually.js';
import type { Exchange } from './http-exchange.js';

/** Undefined for a 503 in the words of the contract, after which a caller may ask again. */
export async function unlessTurnedAway(asked: Promise<Exchange>): Promise<Exchange | undefined> {
  const answer = await asked;
  return isTurnedAway(answer) ? undefined : answer;
}

/**
 * The answer, asked for again while the service turns the request away, as on a busy machine. Only for what
 * may be repeated: the service may have done it all the same.
 */
export function untilAnswered(ask: () => Promise<Exchange>): Promise<Exchange> {
  return eventually('an answer', () => unlessTurnedAway(ask()));
}

/** With the words of the contract, for programs or for people; another 503 would be a fault. */
function isTurnedAway({ status, headers, body }: Exchange): boolean {
  if (status !== 503) {
    return false;
  }
  const isJson = /^application\/(?:problem\+)?json/.test(headers['content-type'] ?? '');
  const { error, code = error } = (isJson ? JSON.parse(body) : {}) as { error?: string; code?: string };
  const isSaid = isJson ? code?.endsWith('unavailable') : body.includes('Something went wrong');
  if (!isSaid || headers['retry-after'] === undefined) {
    throw new Error(`A 503 that is not in order: ${JSON.stringify(headers)} ${body}`);
  }
  return true;
}
