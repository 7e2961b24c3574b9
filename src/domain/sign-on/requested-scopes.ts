import { inOrder, SCOPES } from '../operator/application-rules.js';

/** The scopes of a request in the order of the contract, or undefined if the text is none of RFC 6749: tokens with one space between them. */
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

/** Printable ASCII but for the blank, the quotation mark and the backslash (RFC 6749, section 3.3). */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/;
