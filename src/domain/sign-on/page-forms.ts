import type { OwnInteraction } from './open-interaction.js';
import type { SignOn } from './sign-on.js';

type FormOf = Pick<OwnInteraction, 'interaction' | 'session'>;

/** The value that a page's form sends back: it fits the browser, the interaction and whoever was signed in when the page was shown, and nothing else. */
export function formTokenOf({ formTokens }: Pick<SignOn, 'formTokens'>, shown: FormOf): string {
  return formTokens.make(...partsOf(shown));
}

export function isFormOf(
  { formTokens }: Pick<SignOn, 'formTokens'>,
  shown: FormOf,
  csrfToken: string,
): boolean {
  return formTokens.matches(csrfToken, ...partsOf(shown));
}

function partsOf({ interaction, session }: FormOf): string[] {
  return ['form', session.id, interaction.id, session.account?.id ?? ''];
}
