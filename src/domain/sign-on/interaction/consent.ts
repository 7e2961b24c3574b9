import { endAccessOf } from '../../credentials/access.js';
import { auditRequest, type Browser, type BrowserStep, toPage } from '../sessions/browser.js';
import type { SignOn, SignOnChanges } from '../sign-on.js';
import { type AdvancePorts, advance, leave, underWay } from './advance.js';
import { nextStep, type Situation, withdrawsByDenial } from './next-step.js';
import { answerForm, type Form, type PersonsForm, pageOf, situationNow } from './open-form.js';
import { stale } from './open-interaction.js';

interface ConsentForm extends Form {
  approved: boolean;
}

/** Records the person's decision. An approval is remembered; a denial ends the authorization. */
export function decideConsent(signOn: SignOn, browser: Browser, form: ConsentForm): Promise<BrowserStep> {
  return answerForm(signOn, browser, form, async (changes, opened) => {
    const situation = await situationNow(changes, opened);
    const page = pageOf(situation);
    // A denial holds also where another tab has approved meanwhile, or the role has to be chosen again.
    const isDenied = !form.approved && (page !== 'sign_in' || nextStep(situation).kind === 'issue');
    if (page !== 'consent' && !isDenied) {
      return toPage(page, form.interaction);
    }
    const decision = { ...opened, situation };
    return form.approved
      ? approve(signOn, changes, browser, decision)
      : deny(signOn, changes, browser, decision);
  });
}

interface Decision extends PersonsForm {
  situation: Situation;
}

async function approve(
  signOn: SignOn,
  changes: AdvancePorts,
  browser: Browser,
  decision: Decision,
): Promise<BrowserStep> {
  const { accountId, interaction } = decision;
  const { request, progress } = interaction;
  const { applicationId, instanceId, scopes } = request;
  await changes.consents.give({ accountId, applicationId, instanceId }, scopes, changes.now);
  const attributes = { scopes: scopes.join(' ') };
  await auditRequest(changes, browser, { accountId, request }, { type: 'consent.given', attributes });
  return advance(signOn, changes, browser, underWay(decision, { ...progress, approvedBy: accountId }));
}

async function deny(
  signOn: SignOn,
  changes: Pick<SignOnChanges, 'audit' | 'consents' | 'grants' | 'interactions' | 'now'>,
  browser: Browser,
  decision: Decision,
): Promise<BrowserStep> {
  const { accountId, interaction } = decision;
  const { request } = interaction;
  if (!(await changes.interactions.finish(interaction))) {
    return stale(request, 'answered');
  }
  let isWithdrawn = false;
  if (withdrawsByDenial(decision.situation)) {
    const { applicationId, instanceId } = request;
    isWithdrawn = await endAccessOf(changes, { accountId, applicationId, instanceId });
  }
  const attributes = { scopes: request.scopes.join(' '), ...(isWithdrawn && { withdrawn: 'true' }) };
  await auditRequest(changes, browser, { accountId, request }, { type: 'consent.denied', attributes });
  const refusal = { error: 'access_denied', description: 'The person did not approve the request.' } as const;
  return leave(signOn, decision.situation, { kind: 'refuse', refusal });
}
