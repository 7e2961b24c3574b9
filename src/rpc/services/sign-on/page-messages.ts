import type {
  ConsentPage,
  ContextPage,
  ShowInteractionResponse,
  SignInContext,
} from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import type { PageContent } from '../../../domain/sign-on/page-content.js';
import type { Shown } from '../../../domain/sign-on/show-interaction.js';
import { toStep, toUserType } from './browser-messages.js';

export function toShown(shown: Shown): ShowInteractionResponse['result'] {
  switch (shown.kind) {
    case 'step':
      return { $case: 'step', value: toStep(shown.step) };
    case 'sign_in': {
      const { form, email, refusals } = shown;
      return { $case: 'signInPage', value: { interaction: form, email, refusals } };
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

function toContextPage({
  form,
  accountEmail,
  contexts,
  refusals,
}: PageContent & { kind: 'choose_context' }): ContextPage {
  return {
    interaction: form,
    accountEmail,
    contexts: contexts.map(
      ({ userType, clientId, clientName, roleName, lastUsed }): SignInContext => ({
        userType: toUserType(userType),
        clientId,
        clientName,
        roleName: roleName ?? undefined,
        lastUsed,
      }),
    ),
    refusals,
  };
}

function toConsentPage({ form, accountEmail, scopes }: PageContent & { kind: 'consent' }): ConsentPage {
  return { interaction: form, accountEmail, scopes: [...scopes] };
}
