import { situationOf } from './advance.js';
import { countPerson } from './begin-limits.js';
import { type Browser, type BrowserStep, type PageName, toPage } from './browser.js';
import type { AuthorizationRequest } from './interactions.js';
import { nextStep, type Situation } from './next-step.js';
import { isAuthorization, type OwnInteraction, openInteraction } from './open-interaction.js';
import { isFormOf } from './page-forms.js';
import type { SignOn } from './sign-on.js';
import type { SignOnChanges, SignOnRows } from './unit-of-work.js';

interface Form {
  interaction: string;
  csrfToken: string;
}

type OpenedForm =
  | ({ kind: 'own' } & OwnInteraction<AuthorizationRequest>)
  | { kind: 'elsewhere'; step: BrowserStep };

/** The authorization that a form belongs to. One that does not fit, because the person changed in another tab, leads to the page that is needed now. */
export async function openForm(signOn: SignOn, browser: Browser, form: Form): Promise<OpenedForm> {
  return open(signOn, { ...signOn.unitOfWork.rows, now: signOn.clock() }, browser, form);
}

/** The same, with whoever is signed in locked, so that of a form that was sent twice the second finds what the first has done. */
export async function openLockedForm(
  signOn: SignOn,
  changes: SignOnChanges,
  browser: Browser,
  form: Form,
): Promise<OpenedForm> {
  const opened = await open(signOn, changes, browser, form);
  if (opened.kind === 'elsewhere' || !opened.session.account) {
    return opened;
  }
  countPerson(signOn, opened.session.account.id);
  await changes.lock(opened.session.account.id);
  return open(signOn, changes, browser, form);
}

async function open(
  signOn: SignOn,
  rows: SignOnRows & { now: number },
  browser: Browser,
  form: Form,
): Promise<OpenedForm> {
  const opened = await openInteraction(signOn, rows, browser, form.interaction);
  if (opened.kind === 'elsewhere') {
    return opened;
  }
  if (!isAuthorization(opened)) {
    return { kind: 'elsewhere', step: toPage('sign_out', form.interaction) };
  }
  if (!isFormOf(signOn, opened, form.csrfToken)) {
    const page = pageOf(await situationNow(rows, opened));
    return { kind: 'elsewhere', step: toPage(page, form.interaction) };
  }
  return { ...opened, kind: 'own' };
}

/** As the rows stand, without a lock: for what is shown. */
export async function situationNow(
  rows: SignOnRows & { now: number },
  { interaction: { request, progress }, session }: OwnInteraction<AuthorizationRequest>,
): Promise<Situation> {
  const signedIn = session.account;
  const identity = signedIn ? await rows.identities.find(signedIn.id, request.instanceId) : undefined;
  return situationOf(rows, { request, silent: false, signedIn, progress, now: rows.now }, identity);
}

/** Where the authorization waits; where it waits for nobody, the sign-in page leads on. */
export function pageOf(situation: Situation): PageName {
  const step = nextStep(situation);
  return step.kind === 'page' ? step.page : 'sign_in';
}
