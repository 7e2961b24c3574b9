import { newRowId } from '../../../identifiers/random-secrets.js';
import type { Session } from '../../credentials/access.js';
import type { Application } from '../../operator/rows/applications.js';
import { type Asker, codeStep, refusalStep } from '../authorization/authorization-answer.js';
import { type IssuePorts, issueCode, lockedIdentity } from '../authorization/issue-code.js';
import { type Browser, type BrowserStep, toErrorPage, toPage } from '../sessions/browser.js';
import { noteSeen } from '../sessions/browser-sessions.js';
import type { SignOn, SignOnChanges, SignOnRows } from '../sign-on.js';
import { type AuthorizationRequest, INTERACTION_LIFETIME_MS, type Interaction } from './interactions.js';
import { choiceIn, type NextStep, nextStep, type Situation } from './next-step.js';
import { type OwnInteraction, stale } from './open-interaction.js';

/** What issues a code, and what decides the next step. */
export type AdvancePorts = IssuePorts &
  Pick<SignOnChanges, 'applications' | 'consents' | 'identities' | 'interactions' | 'lock' | 'sessions'>;

/** An authorization or a sign-out in progress. */
interface Begun extends Pick<Interaction, 'request' | 'progress'> {
  session: Session;
  /** Absent until a page is needed. */
  interaction?: Pick<Interaction, 'id' | 'expiresAt'>;
}

interface UnderWay extends Begun {
  request: AuthorizationRequest;
  silent: boolean;
}

export function underWay(
  { interaction, session }: OwnInteraction<AuthorizationRequest>,
  progress = interaction.progress,
): UnderWay {
  return { request: interaction.request, silent: false, session, progress, interaction };
}

/** The facts that decide the next step; reads the application unless it is loaded already. */
export async function situationOf(
  rows: Pick<SignOnRows, 'applications' | 'consents'>,
  known: Omit<Situation, 'application' | 'approvedScopes'>,
  loaded?: Application,
): Promise<Situation> {
  const { applicationId, instanceId } = known.request;
  const application = loaded ?? (await rows.applications.find(applicationId));
  const accountId = known.signedIn?.id;
  const approvedScopes = accountId ? await rows.consents.find({ accountId, applicationId, instanceId }) : [];
  return { ...known, application, approvedScopes };
}

/** Proceeds to the page that is needed, or back to the application, in the transaction of the caller. */
export async function advance(
  signOn: SignOn,
  changes: AdvancePorts,
  browser: Browser,
  way: UnderWay,
): Promise<BrowserStep> {
  const { request, silent, progress } = way;
  const person = await lockedPerson(signOn, changes, way);
  const situation = await situationOf(changes, { request, silent, ...person, progress, now: changes.now });
  const step = nextStep(situation);
  if (step.kind === 'page') {
    return toPage(step.page, sealed(signOn, changes.now, way));
  }
  // Of concurrent ends, such as a form that was sent twice, one continues.
  if (way.interaction && !(await changes.interactions.finish(way.interaction))) {
    return stale(request, 'answered');
  }
  if (step.kind !== 'issue') {
    return leave(signOn, situation, step);
  }
  const { signedIn } = person;
  // The session notes the choice until its next sign-in.
  if (signedIn && choiceIn(progress, signedIn)) {
    const { userType, clientId } = step.context;
    const contexts = { ...signedIn.contexts, [request.instanceId]: { userType, clientId } };
    await changes.sessions.noteContexts(way.session.id, { ...signedIn, contexts });
  }
  return codeStep(signOn.issuer, askerIn(situation), await issueCode(changes, browser, way, step));
}

/** Locks the account and reads again: a concurrent sign-out may have ended the session. */
async function lockedPerson(
  { sessionLimits }: SignOn,
  changes: Pick<AdvancePorts, 'identities' | 'lock' | 'now' | 'sessions'>,
  { session, request }: UnderWay,
): Promise<Pick<Situation, 'signedIn' | 'identity'>> {
  if (!session.account) {
    return { signedIn: null, identity: undefined };
  }
  const identity = await lockedIdentity(changes, session.account.id, request);
  const present = await changes.sessions.findByToken(session.tokenHash);
  if (present?.account?.id !== session.account.id) {
    return { signedIn: null, identity: undefined };
  }
  await noteSeen(changes, present, sessionLimits);
  return { signedIn: present.account, identity };
}

/** The state for the next page, sealed into its address. */
export function sealed(
  { interactionSeals }: Pick<SignOn, 'interactionSeals'>,
  now: number,
  { request, session, progress, interaction }: Begun,
): string {
  const { id, expiresAt } = interaction ?? { id: newRowId(), expiresAt: now + INTERACTION_LIFETIME_MS };
  return interactionSeals.seal({ id, sessionId: session.id, request, progress, expiresAt });
}

/** Back to the application without a code, if it is still proven. */
export function leave(
  { issuer }: Pick<SignOn, 'issuer'>,
  situation: Pick<Situation, 'request' | 'application'>,
  step: NextStep & { kind: 'refuse' | 'unproven' },
): BrowserStep {
  return step.kind === 'unproven'
    ? unproven('redirect_uri is no longer registered for this application.')
    : refusalStep(issuer, askerIn(situation), step.refusal);
}

function askerIn({ request, application }: Pick<Situation, 'request' | 'application'>): Asker {
  return { ...request, applicationName: application?.name ?? '' };
}

/** No redirect: its target is not proven. */
export function unproven(developerMessage: string): BrowserStep {
  const message =
    'The application sent you here with a request that we cannot answer. Go back to it and try again.';
  return toErrorPage({ kind: 'request', message, developerMessage });
}
