import {
  type ShowInteractionResponse,
  UserType,
} from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import type { ContextChoice } from '../../../domain/sign-on/interaction/login-contexts.js';
import type { PageContent } from '../../../domain/sign-on/interaction/page-content.js';
import type { Shown } from '../../../domain/sign-on/interaction/show-interaction.js';
import type { Sent } from '../../definitions.js';
import { toStep } from './browser-messages.js';

export function toShown(shown: Shown): Sent<ShowInteractionResponse['result']> {
  switch (shown.kind) {
    case 'step':
      return { $case: 'step', value: toStep(shown.step) };
    case 'sign_in': {
      const { kind, form: interaction, ...page } = shown;
      return { $case: 'signInPage', value: { ...page, interaction } };
    }
    case 'choose_context':
      return { $case: 'contextPage', value: toContextPage(shown) };
    case 'consent':
      return { $case: 'consentPage', value: toConsentPage(shown) };
    case 'sign_out': {
      const { kind, ...value } = shown;
      return { $case: 'signOutPage', value };
    }
  }
}

function toContextPage({ form: interaction, contexts, ...page }: PageContent & { kind: 'choose_context' }) {
  return {
    ...page,
    interaction,
    contexts: contexts.map(toContext),
  };
}

function toContext<Choice extends ContextChoice & { lastUsed: boolean }>(context: Choice) {
  return { ...context, userType: UserType[context.userType] };
}

function toConsentPage({ form: interaction, links, context, ...page }: PageContent & { kind: 'consent' }) {
  const { logoUri, policyUri, tosUri } = links;
  return {
    ...page,
    interaction,
    logoUri: logoUri ?? undefined,
    policyUri: policyUri ?? undefined,
    tosUri: tosUri ?? undefined,
    context: context && toContext({ ...context, lastUsed: false }),
  };
}
