import type { Prompt } from './interactions.js';

export interface RequestedPrompts {
  /** `none`: no page may be shown, whatever it costs. */
  silent: boolean;
  prompts: Prompt[];
}

const PROMPTS: readonly string[] = ['login', 'consent', 'select_account'] satisfies Prompt[];

/** What `prompt` asks for, or undefined if it is no list of prompts of OpenID Connect Core; `none` stands alone. */
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
