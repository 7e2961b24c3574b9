import type { SignOnServiceService } from '../../../../generated/proto/integration/sign_on/v1/sign_on.js';
import { redeemEmailChange, showEmailChange } from '../../../domain/sign-on/interaction/email-change.js';
import { applicationsAt } from '../../../domain/sign-on/interaction/entrances.js';
import {
  redeemEmailLink,
  redeemPasswordLink,
  showEmailLink,
  showPasswordLink,
} from '../../../domain/sign-on/interaction/links.js';
import type { SignOn } from '../../../domain/sign-on/sign-on.js';
import type { Handlers } from '../../handlers.js';
import { fromBrowser, fromHash, toErrorResult, toStep } from './browser.js';

/** The pages of mailed links. */
export function linkHandlers(signOn: SignOn): Handlers<SignOnServiceService> {
  return {
    showPasswordLink: async ({ linkTokenHash }) => {
      const page = await showPasswordLink(signOn, tokenHashOf(linkTokenHash));
      if (page.kind === 'error_page') {
        return { result: toErrorResult(page.errorPage) };
      }
      const value = { email: page.email, invitation: page.purpose === 'invitation' };
      return { result: { $case: 'setPasswordPage', value } };
    },
    redeemPasswordLink: async ({ browser, linkTokenHash, password }, context) => {
      const redemption = { tokenHash: tokenHashOf(linkTokenHash), password };
      return { step: toStep(await redeemPasswordLink(signOn, fromBrowser(browser, context), redemption)) };
    },
    showPasswordSet: async ({ entrances }) => ({ applications: await applicationsAt(signOn, entrances) }),
    showEmailLink: async ({ linkTokenHash }) => {
      const page = await showEmailLink(signOn, tokenHashOf(linkTokenHash));
      if (page.kind === 'error_page') {
        return { result: toErrorResult(page.errorPage) };
      }
      return { result: { $case: 'verifyEmailPage', value: { email: page.email } } };
    },
    showEmailChangeLink: async ({ linkTokenHash }) => {
      const page = await showEmailChange(signOn, tokenHashOf(linkTokenHash));
      if (page.kind === 'error_page') {
        return { result: toErrorResult(page.errorPage) };
      }
      const { kind, ...value } = page;
      return { result: { $case: 'changeEmailPage', value } };
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
