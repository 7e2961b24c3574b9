import type { SignOn } from '../sign-on.js';
import type { OwnInteraction } from './open-interaction.js';

type FormOf = Pick<OwnInteraction, 'interaction' | 'session'>;

/** The CSRF token of a form, bound to browser, interaction and signed-in account. */
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
