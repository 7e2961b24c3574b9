import type { AccountId } from '../../../../generated/ids.js';
import { emailKeyOf } from '../../platform/people/email-keys.js';
import { countPerson } from '../sessions/begin-limits.js';
import { type Browser, type BrowserStep, type PageName, toPage } from '../sessions/browser.js';
import type { RowsAt, SignOn, SignOnChanges } from '../sign-on.js';
import { sealed, situationOf } from './advance.js';
import type { AuthorizationRequest } from './interactions.js';
import { nextStep, type Situation } from './next-step.js';
import {
  boundOf,
  type OpenedAuthorization,
  type OwnInteraction,
  openAuthorization,
} from './open-interaction.js';

type Rows = RowsAt<'applications' | 'consents' | 'identities' | 'interactions' | 'sessions'>;

/** What every form of an interaction's page sends. */
export interface Form {
  interaction: string;
  csrfToken: string;
  /** As typed in the sign-in form. */
  email?: string;
}

/** The authorization of a form. If it no longer matches, such as after a change in another tab, go on. */
export async function openForm(signOn: SignOn, browser: Browser, form: Form): Promise<OpenedAuthorization> {
  return open(signOn, { ...signOn.unitOfWork.rows, now: signOn.clock() }, browser, form);
}

/** The authorization of a form that the person who is signed in has sent. */
export type PersonsForm = OwnInteraction<AuthorizationRequest> & { accountId: AccountId };

/**
 * Answers the form in a write that has locked the account, so that a form sent twice finds the effect of the
 * first. The token of the form binds it to the account that was read before. Other forms open no write,
 * because anyone can send them.
 */
export async function answerForm(
  signOn: SignOn,
  browser: Browser,
  form: Form,
  answer: (changes: SignOnChanges, opened: PersonsForm) => Promise<BrowserStep>,
): Promise<BrowserStep> {
  const seen = await openForm(signOn, browser, form);
  if (seen.kind !== 'authorization') {
    return seen;
  }
  const accountId = seen.session.account?.id;
  if (accountId === undefined) {
    return toPage('sign_in', form.interaction);
  }
  await countPerson(signOn, accountId);
  return signOn.unitOfWork.run(async (changes) => {
    await changes.lock(accountId);
    const opened = await open(signOn, changes, browser, form);
    return opened.kind === 'authorization' ? answer(changes, { ...opened, accountId }) : opened;
  });
}

async function open(signOn: SignOn, rows: Rows, browser: Browser, form: Form): Promise<OpenedAuthorization> {
  const opened = await openAuthorization(signOn, rows, browser, form.interaction);
  if (opened.kind !== 'authorization' || signOn.formTokens.matches(form.csrfToken, ...boundOf(opened))) {
    return opened;
  }
  const situation = await situationNow(rows, opened);
  if (!asksAnew(situation, form)) {
    return toPage(pageOf(situation), form.interaction);
  }
  const { session, interaction } = opened;
  const prompts = [...new Set([...situation.request.prompts, 'login' as const])];
  const request = { ...situation.request, prompts };
  const progress = { refusal: 'other_sign_in' as const };
  return toPage('sign_in', sealed(signOn, rows.now, { request, session, progress, interaction }));
}

/**
 * Whether the sign-in page has to say that someone has signed in since the form was shown, such as in another
 * tab. Another person's form leads to no code and to no page of the person who is signed in: its sender could
 * take that page for their own, and allow or choose as that person.
 */
function asksAnew(situation: Situation, form: Form): boolean {
  const step = nextStep(situation);
  if (step.kind === 'page' && step.page === 'sign_in') {
    return situation.signedIn !== null && step.refusal !== 'no_access';
  }
  return (step.kind === 'page' || step.kind === 'issue') && !isBy(situation.identity, form);
}

/** Whether the form names the person who is signed in already. */
function isBy(identity: Situation['identity'], { email }: Form): boolean {
  const present = identity?.account.email;
  return email !== undefined && present !== undefined && emailKeyOf(email) === emailKeyOf(present);
}

/** Reads without a lock, to show a page. */
export async function situationNow(
  rows: RowsAt<'applications' | 'consents' | 'identities'>,
  { interaction: { request, progress }, session }: OwnInteraction<AuthorizationRequest>,
): Promise<Situation> {
  const signedIn = session.account;
  const identity = signedIn ? await rows.identities.find(signedIn.id, request.instanceId) : undefined;
  return situationOf(rows, { request, silent: false, signedIn, identity, progress, now: rows.now });
}

/** The page at which the authorization waits; the sign-in page if it waits for none, as that leads on. */
export function pageOf(situation: Situation): PageName {
  const step = nextStep(situation);
  return step.kind === 'page' ? step.page : 'sign_in';
}
