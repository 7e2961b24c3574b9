import type { Identity } from '../identity.js';
import type { ContextChoice, LoginContext } from './login-contexts.js';

/** The choices, last used first. Two contracts with one client are one choice. */
export function offeredContexts({
  contexts,
  lastContext,
}: Pick<Identity, 'contexts' | 'lastContext'>): ContextChoice[] {
  const distinct = contexts.filter((choice) => findContext(contexts, choice) === choice);
  const lastUsed = findContext(distinct, lastContext);
  return lastUsed ? [lastUsed, ...distinct.filter((choice) => choice !== lastUsed)] : distinct;
}

export function findContext(
  contexts: readonly ContextChoice[],
  wanted: LoginContext | undefined,
): ContextChoice | undefined {
  return contexts.find(
    ({ userType, clientId }) => userType === wanted?.userType && clientId === wanted.clientId,
  );
}
