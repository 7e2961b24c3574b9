import type { Question } from '../support/http-exchange.js';
import { type FreshCode, redemptionOf } from './attacked-service.js';
import { encoded, FORM } from './user-agent.js';

/** A request for tokens that would succeed but for what is done to it. */
export interface TokenRequestCase {
  title: string;
  ask: (fresh: FreshCode) => Question & { query?: string };
  status: number;
  error: string;
}

export function form(text: string | Buffer, headers: Question['headers'] = {}): Question {
  return { headers: { 'content-type': FORM, ...headers }, body: text };
}

/** The fields of a redemption without some, and with others. */
export function changed(
  fresh: FreshCode,
  changes: Readonly<Record<string, string | undefined>>,
): [string, string][] {
  const fields = { ...redemptionOf(fresh), ...changes };
  return Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined);
}

export const refused = (title: string, ask: TokenRequestCase['ask']): TokenRequestCase => ({
  title,
  ask,
  status: 400,
  error: 'invalid_request',
});

export const changing = (changes: Readonly<Record<string, string | undefined>>) => (fresh: FreshCode) =>
  form(encoded(changed(fresh, changes)));
