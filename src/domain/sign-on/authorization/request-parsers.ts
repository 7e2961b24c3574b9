import { inOrder, SCOPES } from '../../operator/application-rules.js';
import type { Prompt } from '../interaction/interactions.js';

/** Known scopes are in the order of the contract. Undefined unless separated by single spaces (RFC 6749). */
export function parseScopes(text: string): { known: string[]; unknown: string[] } | undefined {
  const tokens = text.split(' ');
  if (!tokens.every((token) => SCOPE_TOKEN.test(token))) {
    return undefined;
  }
  return {
    known: inOrder(SCOPES, tokens),
    unknown: [...new Set(tokens)].filter((token) => !SCOPES.includes(token)),
  };
}

/** Printable ASCII except blank, quotation mark and backslash (RFC 6749, section 3.3). */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

interface RequestedPrompts {
  /** `none`: no page may be shown. */
  silent: boolean;
  prompts: Prompt[];
}

export const PROMPTS: readonly string[] = ['login', 'consent', 'select_account'] satisfies Prompt[];

/** The prompts of OpenID Connect Core; undefined if malformed. `none` must be alone. */
export function parsePrompts(text: string): RequestedPrompts | undefined {
  if (text === 'none') {
    return { silent: true, prompts: [] };
  }
  const tokens = text.split(' ');
  if (!tokens.every((token) => PROMPTS.includes(token))) {
    return undefined;
  }
  return { silent: false, prompts: [...new Set(tokens)] as Prompt[] };
}

/** At most ten digits: over three hundred years. */
const NON_NEGATIVE_INTEGER = /^(0|[1-9]\d{0,9})$/;

/** `max_age` in seconds; undefined if it is not a non-negative integer. */
export function parseMaxAge(text: string): number | undefined {
  return NON_NEGATIVE_INTEGER.test(text) ? Number(text) : undefined;
}
