import type { AccountId, ApplicationId, InstanceId } from '../../../../generated/ids.js';
import type { Session } from '../../credentials/access.js';
import { emailKeyOf } from '../../platform/people/email-keys.js';
import type { Account } from '../../platform/rows/people.js';
import { isKeepable } from '../authorization/authorization-parameters.js';
import { countPerson } from '../sessions/begin-limits.js';
import { auditIn, type Browser, type BrowserStep, toPage } from '../sessions/browser.js';
import { sessionOf, signInTo } from '../sessions/browser-sessions.js';
import { deviceCookieOf } from '../sessions/devices.js';
import {
  type CountedGuess,
  countGuess,
  forgiveGuess,
  type Guess,
  UNKNOWN_ACCOUNT,
  unlessItFails,
  verifyGuess,
} from '../sessions/guess-limits.js';
import { noteEnd } from '../sessions/logout.js';
import { observeNoAccess, recordRefusal } from '../sessions/refusals.js';
import type { SignOn, SignOnChanges } from '../sign-on.js';
import { type AdvancePorts, advance, sealed, underWay } from './advance.js';
import type { AuthorizationRequest } from './interactions.js';
import { type Form, openForm } from './open-form.js';
import { openAuthorization } from './open-interaction.js';

interface SignInForm extends Form {
  email: string;
  password: string;
}

const MAX_EMAIL_LENGTH = 320;

interface Candidate extends Guess {
  applicationId: ApplicationId;
  instanceId: InstanceId;
  account: Account | undefined;
  /** Undefined for a disabled account too. */
  hash: string | undefined;
}

/** Unknown addresses, disabled accounts, and wrong or missing passwords look alike and take as long. */
export async function signIn(signOn: SignOn, browser: Browser, form: SignInForm): Promise<BrowserStep> {
  const opened = await openForm(signOn, browser, form);
  if (opened.kind !== 'authorization') {
    return opened;
  }
  const candidate = await candidateOf(signOn, form.email, opened.interaction.request);
  const counted = await countGuess(signOn, browser, candidate);
  const { hash } = candidate;
  const isRight = await verifyGuess(signOn, browser, counted, { hash, password: form.password });
  return isRight
    ? unlessItFails(signOn, counted, () => proceed(signOn, browser, { form, candidate, counted }))
    : refuse(signOn, browser, { form, candidate });
}

interface Attempt {
  form: SignInForm;
  candidate: Candidate;
  counted: CountedGuess;
}

/** The password is right, unless it was changed or the account disabled meanwhile. */
async function proceed(signOn: SignOn, browser: Browser, attempt: Attempt): Promise<BrowserStep> {
  const { candidate } = attempt;
  if (candidate.accountId) {
    await countPerson(signOn, candidate.accountId);
  }
  const proceeded = await signOn.unitOfWork.run(async (changes) => {
    const account = await unchanged(changes, candidate);
    if (!account) {
      return undefined;
    }
    const step = await accept(signOn, changes, browser, attempt, account.id);
    // Last: everyone who signs in from this network waits for its count.
    await forgiveGuess(changes, attempt.counted);
    const { passwordSetAt } = candidate;
    return { ...step, device: deviceCookieOf(signOn, browser, { accountId: account.id, passwordSetAt }) };
  });
  // After the right password only a person without access sees the page again.
  if (candidate.accountId && proceeded?.kind === 'page' && proceeded.page === 'sign_in') {
    observeNoAccess(signOn, browser, candidate.accountId, candidate);
  }
  return proceeded ?? refuse(signOn, browser, attempt);
}

async function candidateOf(
  { unitOfWork: { rows } }: SignOn,
  email: string,
  { applicationId, instanceId }: AuthorizationRequest,
): Promise<Candidate> {
  const emailKey = emailKeyOf(email);
  const account = isKeepable(`${emailKey}${email}`, 2 * MAX_EMAIL_LENGTH)
    ? await rows.accounts.findByEmail(email)
    : undefined;
  const password = await rows.passwords.find(account?.id ?? UNKNOWN_ACCOUNT);
  return {
    emailKey,
    accountId: account?.id,
    passwordSetAt: password?.setAt ?? 0,
    applicationId,
    instanceId,
    account,
    // The right password of a disabled account costs no more than a wrong one.
    hash: account?.disabledAt === null ? password?.hash : undefined,
  };
}

/** The person, if still enabled and with the same password, locked from here on. */
async function unchanged(
  changes: Pick<SignOnChanges, 'accounts' | 'lock' | 'passwords'>,
  { account, hash }: Candidate,
): Promise<Account | undefined> {
  if (!account || hash === undefined) {
    return undefined;
  }
  await changes.lock(account.id);
  const present = await changes.accounts.find(account.id);
  const password = await changes.passwords.find(account.id);
  return present?.disabledAt === null && password?.hash === hash ? present : undefined;
}

async function accept(
  signOn: SignOn,
  changes: AdvancePorts & Pick<SignOnChanges, 'attempts' | 'grants' | 'lock'>,
  browser: Browser,
  { form, candidate: { applicationId, instanceId } }: Attempt,
  id: AccountId,
): Promise<BrowserStep> {
  const attributes = { application_id: applicationId, instance_id: instanceId };
  await auditIn(changes, browser, { type: 'account', id }, { type: 'sign_in', attributes });
  const signInHere = async (seen: Session | undefined) => {
    let present = seen;
    if (seen?.account && seen.account.id !== id) {
      // Another tab that gets a code locks the account first, then the row of the session.
      await changes.lock(seen.account.id);
      // A sign-out in another tab may have ended it.
      present = await sessionOf(changes, browser, signOn.sessionLimits);
    }
    const { ended, ...held } = await signInTo(changes, present, id, signOn.sessionLimits);
    for (const session of ended) {
      await noteEnd(changes, browser, id, { ...session });
    }
    return held;
  };
  const opened = await openAuthorization(signOn, changes, browser, form.interaction);
  if (opened.kind !== 'authorization') {
    // The form was sent twice, or another tab was faster. The password was right, so the session is valid.
    const present = await sessionOf(changes, browser, signOn.sessionLimits);
    const { cookie } = await signInHere(present);
    return { ...opened, cookie };
  }
  const { session, cookie } = await signInHere(opened.session);
  const { refusal, refusedEmail, ...progress } = opened.interaction.progress;
  const way = underWay({ ...opened, session }, { ...progress, signedInAt: changes.now, signedInBy: id });
  const step = await advance(signOn, changes, browser, way);
  return { ...step, cookie };
}

/** Back to the page with an error and the typed address. */
async function refuse(
  signOn: SignOn,
  browser: Browser,
  { form, candidate }: Pick<Attempt, 'form' | 'candidate'>,
): Promise<BrowserStep> {
  const { applicationId, accountId } = candidate;
  await recordRefusal(signOn, browser, {
    type: 'sign_in',
    party: { type: 'application', id: applicationId },
    ...(accountId !== undefined && { subject: { type: 'account', id: accountId } }),
    reason: 'credentials',
  });
  const now = signOn.clock();
  const rows = { ...signOn.unitOfWork.rows, now };
  const opened = await openAuthorization(signOn, rows, browser, form.interaction);
  if (opened.kind !== 'authorization') {
    return opened;
  }
  // People also type passwords into the address field.
  const isAddress = form.email.includes('@') && isKeepable(form.email, MAX_EMAIL_LENGTH);
  const refused = isAddress
    ? ({ refusal: 'credentials', refusedEmail: form.email } as const)
    : ({ refusal: 'no_address', refusedEmail: '' } as const);
  const way = underWay(opened, { ...opened.interaction.progress, ...refused });
  return toPage('sign_in', sealed(signOn, now, way));
}
