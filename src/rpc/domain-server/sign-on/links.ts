import type { SignOnServiceService } from '../../../../generated/proto/integration/sign_on/v1/sign_on.js';
import { redeemEmailChange, showEmailChange } from '../../../domain/sign-on/interaction/email-change.js';
import { applicationsAt } from '../../../domain/sign-on/interaction/entrances.js';
import {
  LINK_IS_OVER,
  redeemEmailLink,
  redeemPasswordLink,
  showEmailLink,
  showPasswordLink,
} from '../../../domain/sign-on/interaction/links.js';
import type { SignOn } from '../../../domain/sign-on/sign-on.js';
import type { Handlers } from '../../handlers.js';
import { fromBrowser, fromHash, toErrorResult, toStep } from './browser.js';

const OVER = toErrorResult(LINK_IS_OVER);

export function linkHandlers(signOn: SignOn): Handlers<SignOnServiceService> {
  return {
    showPasswordLink: async ({ linkTokenHash }) => {
      const page = await showPasswordLink(signOn, tokenHashOf(linkTokenHash));
      const value = page && { email: page.email, invitation: page.purpose === 'invitation' };
      return { result: value ? { $case: 'setPasswordPage', value } : OVER };
    },
    redeemPasswordLink: async ({ browser, linkTokenHash, password }, context) => {
      const redemption = { tokenHash: tokenHashOf(linkTokenHash), password };
      return { step: toStep(await redeemPasswordLink(signOn, fromBrowser(browser, context), redemption)) };
    },
    showPasswordSet: async ({ entrances }) => ({ applications: await applicationsAt(signOn, entrances) }),
    showEmailLink: async ({ linkTokenHash }) => {
      const value = await showEmailLink(signOn, tokenHashOf(linkTokenHash));
      return { result: value ? { $case: 'verifyEmailPage', value } : OVER };
    },
    showEmailChangeLink: async ({ linkTokenHash }) => {
      const value = await showEmailChange(signOn, tokenHashOf(linkTokenHash));
      return { result: value ? { $case: 'changeEmailPage', value } : OVER };
    },
    redeemEmailChangeLink: async ({ browser, linkTokenHash, password }, context) => {
      const redemption = { tokenHash: tokenHashOf(linkTokenHash), password };
      return { step: toStep(await redeemEmailChange(signOn, fromBrowser(browser, context), redemption)) };
    },
    redeemEmailLink: async ({ browser, linkTokenHash }, context) => ({
      step: toStep(await redeemEmailLink(signOn, fromBrowser(browser, context), tokenHashOf(linkTokenHash))),
    }),
  };
}

/** Malformed hashes belong to no link. */
function tokenHashOf(hash: Uint8Array): string {
  return fromHash(hash) ?? '';
}
