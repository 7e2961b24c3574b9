import type { Prompt } from '../interaction/interactions.js';

export interface RequestedPrompts {
  /** `none`: no page may be shown. */
  silent: boolean;
  prompts: Prompt[];
}

const PROMPTS: readonly string[] = ['login', 'consent', 'select_account'] satisfies Prompt[];

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
