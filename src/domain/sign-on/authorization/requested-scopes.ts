import { inOrder, SCOPES } from '../../operator/application-rules.js';

/** The scopes in the order of the contract; undefined unless separated by single spaces (RFC 6749). */
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
