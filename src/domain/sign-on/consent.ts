import type { AccountId } from '../../../generated/ids.js';
import { advance, underWay } from './advance.js';
import { refusalLocation } from './authorization-answer.js';
import { actorIn, type Browser, type BrowserStep, toPage, userAgentOf } from './browser.js';
import type { AuthorizationRequest } from './interactions.js';
import { openLockedForm, pageOf, situationNow } from './open-form.js';
import { type OwnInteraction, stale } from './open-interaction.js';
import type { SignOn } from './sign-on.js';
import type { SignOnChanges } from './unit-of-work.js';

export interface ConsentForm {
  interaction: string;
  csrfToken: string;
  approved: boolean;
}

/** Takes the person's decision, once it is asked for. An approval is remembered; a denial ends the authorization. */
export function decideConsent(signOn: SignOn, browser: Browser, form: ConsentForm): Promise<BrowserStep> {
  return signOn.unitOfWork.run(async (changes) => {
    const opened = await openLockedForm(signOn, changes, browser, form);
    if (opened.kind === 'elsewhere') {
      return opened.step;
    }
    const page = pageOf(await situationNow(changes, opened));
    const { account } = opened.session;
    if (page !== 'consent' || !account) {
      return toPage(page, form.interaction);
    }
    const decision = { ...opened, accountId: account.id };
    return form.approved
      ? approve(signOn, changes, browser, decision)
      : deny(signOn, changes, browser, decision);
  });
}

interface Decision extends OwnInteraction<AuthorizationRequest> {
  accountId: AccountId;
}

async function approve(
  signOn: SignOn,
  changes: SignOnChanges,
  browser: Browser,
  decision: Decision,
): Promise<BrowserStep> {
  const { accountId, interaction } = decision;
  const { request, progress } = interaction;
  const { applicationId, instanceId, scopes } = request;
  await changes.consents.give({ accountId, applicationId, instanceId }, scopes, changes.now);
  await record(changes, browser, decision, 'consent.given');
  return advance(signOn, changes, browser, underWay(decision, { ...progress, approvedBy: accountId }));
}

async function deny(
  { issuer }: SignOn,
  changes: SignOnChanges,
  browser: Browser,
  decision: Decision,
): Promise<BrowserStep> {
  const { request } = decision.interaction;
  if (!(await changes.interactions.finish(decision.interaction))) {
    return stale(request, 'answered');
  }
  await record(changes, browser, decision, 'consent.denied');
  const refusal = { error: 'access_denied', description: 'The person did not approve the request.' } as const;
  return { kind: 'redirect', location: refusalLocation(issuer, request, refusal) };
}

async function record(
  changes: SignOnChanges,
  browser: Browser,
  { accountId, interaction: { request } }: Decision,
  type: 'consent.given' | 'consent.denied',
): Promise<void> {
  const application = { type: 'application', id: request.applicationId };
  await changes.audit(actorIn(browser, { type: 'account', id: accountId }), {
    type,
    subject: application,
    attributes: { scopes: request.scopes.join(' '), ...userAgentOf(browser) },
  });
}
