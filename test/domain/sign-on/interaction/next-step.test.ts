import { expect, test } from '@jest/globals';
import type { Progress } from '../../../../src/domain/sign-on/interaction/interactions.js';
import { type NextStep, nextStep } from '../../../../src/domain/sign-on/interaction/next-step.js';
import {
  A,
  ADA,
  B,
  BEN,
  CALLBACK,
  type Changed,
  context,
  NOW,
  person,
  SIGNED_IN_AT,
  situation,
} from './situations.js';

const HERE: Progress = { signedInAt: SIGNED_IN_AT, signedInBy: ADA };
const NEW = { ...A, invited: true };
/** Chosen since the present sign-in. */
const SINCE = { authenticatedAt: SIGNED_IN_AT };

function inWords(step: NextStep): string {
  switch (step.kind) {
    case 'page':
      return step.refusal ? `${step.page} (${step.refusal})` : step.page;
    case 'refuse':
      return step.refusal.error;
    case 'issue':
      return `code for ${step.accountId} as ${step.context.memberId}`;
    default:
      return step.kind;
  }
}

const CODE = 'code for acc_ada as USER_cli_a';

/** Ours, approved before, and without a secret. */
function native(redirectUri: string): Changed {
  const redirectUris = [{ uri: redirectUri, instanceId: 'ins_1' as const }];
  return { request: { redirectUri }, application: { type: 'public', firstParty: true, redirectUris } };
}

test.each<[string, Changed, string, string]>([
  ['everything is there', {}, CODE, CODE],
  ['the browser has no session', { signedIn: null, identity: undefined }, 'sign_in', 'login_required'],
  ['the account is gone', { identity: undefined }, 'sign_in', 'login_required'],
  ['the account is disabled', { identity: person({ disabledAt: 1 }) }, 'sign_in', 'login_required'],
  [
    'a wrong password was given',
    { signedIn: null, progress: { refusal: 'credentials' } },
    'sign_in (credentials)',
    'login_required',
  ],
  [
    'no address was typed',
    { signedIn: null, progress: { refusal: 'no_address' } },
    'sign_in (no_address)',
    'login_required',
  ],
  [
    'a form was from before a sign-in',
    { request: { prompts: ['login'] }, progress: { refusal: 'other_sign_in' } },
    'sign_in (other_sign_in)',
    'login_required',
  ],
  ['a new sign-in is asked for', { request: { prompts: ['login'] } }, 'sign_in', 'login_required'],
  [
    'a choice of account is asked for',
    { request: { prompts: ['select_account'] } },
    'sign_in',
    'login_required',
  ],
  ['the new sign-in was made', { request: { prompts: ['login'] }, progress: HERE }, CODE, CODE],
  [
    'another sign-in of the person followed, elsewhere',
    { request: { prompts: ['login'] }, progress: { ...HERE, signedInAt: SIGNED_IN_AT - 1 } },
    CODE,
    CODE,
  ],
  [
    'another sign-in of the person followed, elsewhere, in a page from before the upgrade',
    { request: { prompts: ['login'] }, progress: { signedInAt: SIGNED_IN_AT - 1 } },
    CODE,
    CODE,
  ],
  [
    'a sign-in of another person came before, elsewhere',
    { request: { prompts: ['login'] }, progress: { signedInAt: SIGNED_IN_AT - 1, signedInBy: BEN } },
    'sign_in',
    'login_required',
  ],
  [
    'the present sign-in is older, such as after the clock was set back',
    { request: { prompts: ['login'] }, progress: { ...HERE, signedInAt: SIGNED_IN_AT + 1 } },
    'sign_in',
    'login_required',
  ],
  ['max_age is over', { request: { maxAgeSeconds: 60 } }, 'sign_in', 'login_required'],
  ['max_age is not over', { request: { maxAgeSeconds: 61 } }, CODE, CODE],
  ['max_age was over before', { request: { maxAgeSeconds: 0 }, progress: HERE }, CODE, CODE],
  [
    'max_age is 0 and the clock was put back',
    { request: { maxAgeSeconds: 0 }, signedIn: { id: ADA, authenticatedAt: NOW + 60_000 } },
    'sign_in',
    'login_required',
  ],
  [
    'max_age is not over, though the clock was put back',
    { request: { maxAgeSeconds: 1 }, signedIn: { id: ADA, authenticatedAt: NOW + 60_000 } },
    CODE,
    CODE,
  ],
  ['another is expected', { request: { hintedAccountId: BEN } }, 'sign_in', 'login_required'],
  [
    'another was expected',
    { request: { hintedAccountId: BEN }, progress: HERE },
    'login_required',
    'login_required',
  ],
  ['it is whom they expect', { request: { hintedAccountId: ADA } }, CODE, CODE],
  ['there is no access', { identity: person({ contexts: [] }) }, 'sign_in (no_access)', 'access_denied'],
  [
    'there is no access and a wrong password',
    { identity: person({ contexts: [] }), progress: { refusal: 'credentials' } },
    'sign_in (credentials)',
    'access_denied',
  ],
  [
    'the only user is new, and the person did nothing here',
    { identity: person({ contexts: [NEW] }) },
    'choose_context',
    'interaction_required',
  ],
  [
    'the last used user was deleted and invited again',
    {
      identity: person({ contexts: [NEW, B], lastContext: A }),
      signedIn: { id: ADA, authenticatedAt: SIGNED_IN_AT, contexts: { ins_1: A } },
    },
    'choose_context',
    'interaction_required',
  ],
  [
    'the only user is new, and the password was entered here',
    { identity: person({ contexts: [NEW] }), progress: HERE },
    CODE,
    CODE,
  ],
  [
    'the only user is new, and was chosen',
    { identity: person({ contexts: [NEW] }), progress: { context: { ...A, accountId: ADA, ...SINCE } } },
    CODE,
    CODE,
  ],
  [
    'the only user is new, and the person only approved',
    { identity: person({ contexts: [NEW] }), approvedScopes: [], progress: { approvedBy: ADA } },
    'choose_context',
    'interaction_required',
  ],
  [
    'the only user is new, and the approval is missing too',
    { identity: person({ contexts: [NEW] }), approvedScopes: [] },
    'choose_context',
    'interaction_required',
  ],
  [
    'the only user is new and was chosen, and the approval is missing',
    {
      identity: person({ contexts: [NEW] }),
      approvedScopes: [],
      progress: { context: { ...A, accountId: ADA, ...SINCE } },
    },
    'consent',
    'consent_required',
  ],
  [
    'there are two contexts',
    { identity: person({ contexts: [A, B] }) },
    'choose_context',
    'interaction_required',
  ],
  [
    'there are two contracts with one client',
    { identity: person({ contexts: [A, { ...A, memberId: 'other' }] }) },
    CODE,
    CODE,
  ],
  [
    'one of two was used last',
    { identity: person({ contexts: [B, A], lastContext: A }) },
    'choose_context',
    CODE,
  ],
  [
    'what was used last is gone',
    { identity: person({ contexts: [A, B], lastContext: context('cli_c') }) },
    'choose_context',
    'interaction_required',
  ],
  [
    'one of two was chosen',
    { identity: person({ contexts: [B, A] }), progress: { context: { ...A, accountId: ADA, ...SINCE } } },
    CODE,
    CODE,
  ],
  [
    'one of two was chosen before in the session',
    {
      identity: person({ contexts: [B, A], lastContext: B }),
      signedIn: { id: ADA, authenticatedAt: NOW - 60_000, contexts: { ins_1: A } },
    },
    CODE,
    CODE,
  ],
  [
    'the one chosen before in the session is gone',
    {
      identity: person({ contexts: [A, B] }),
      signedIn: { id: ADA, authenticatedAt: NOW - 60_000, contexts: { ins_1: context('cli_c') } },
    },
    'choose_context',
    'interaction_required',
  ],
  [
    'one was chosen before in the session on another instance',
    {
      identity: person({ contexts: [A, B] }),
      signedIn: { id: ADA, authenticatedAt: NOW - 60_000, contexts: { ins_2: A } },
    },
    'choose_context',
    'interaction_required',
  ],
  [
    'another person chose',
    { identity: person({ contexts: [A, B] }), progress: { context: { ...A, accountId: BEN, ...SINCE } } },
    'choose_context',
    'interaction_required',
  ],
  [
    'one of two was chosen before a new sign-in',
    {
      identity: person({ contexts: [B, A] }),
      progress: { context: { ...A, accountId: ADA, authenticatedAt: SIGNED_IN_AT - 1 } },
    },
    'choose_context',
    'interaction_required',
  ],
  [
    'the chosen one is gone',
    {
      identity: person({ contexts: [A, B] }),
      progress: { refusal: 'context', context: { ...context('cli_c'), accountId: ADA, ...SINCE } },
    },
    'choose_context (context)',
    'interaction_required',
  ],
  [
    'a choice was refused, though one was made before',
    {
      identity: person({ contexts: [A, B] }),
      progress: { refusal: 'context', context: { ...A, accountId: ADA, ...SINCE } },
    },
    'choose_context (context)',
    CODE,
  ],
  [
    'the chosen one is gone, though one was chosen before in the session',
    {
      identity: person({ contexts: [A, B] }),
      signedIn: { id: ADA, authenticatedAt: SIGNED_IN_AT, contexts: { ins_1: A } },
      progress: { context: { ...context('cli_c'), accountId: ADA, ...SINCE } },
    },
    'choose_context',
    'interaction_required',
  ],
  [
    'the chosen one is gone and one is left',
    { progress: { context: { ...B, accountId: ADA, ...SINCE } } },
    'choose_context',
    'interaction_required',
  ],
  [
    'the other kind was chosen',
    {
      identity: person({ contexts: [A, B] }),
      progress: { context: { ...A, userType: 'WORKER', accountId: ADA, ...SINCE } },
    },
    'choose_context',
    'interaction_required',
  ],
  ['a scope is not approved', { approvedScopes: ['openid'] }, 'consent', 'consent_required'],
  ['the application is ours', { approvedScopes: [], application: { firstParty: true } }, CODE, CODE],
  ['any program may pose as it', native('http://127.0.0.1:4711/callback'), 'consent', 'consent_required'],
  ['any program may pose as it: a scheme', native('com.example.app:/'), 'consent', 'consent_required'],
  [
    'any program may pose as it, and it was approved now',
    { ...native('http://127.0.0.1/'), progress: { approvedBy: ADA } },
    CODE,
    CODE,
  ],
  ['it is public with a public address', native('https://app.example.com/'), CODE, CODE],
  [
    'it is at this machine with a secret',
    {
      ...native('http://127.0.0.1/'),
      application: { ...native('http://127.0.0.1/').application, type: 'confidential' },
    },
    CODE,
    CODE,
  ],
  ['consent is asked for', { request: { prompts: ['consent'] } }, 'consent', 'consent_required'],
  [
    'consent is asked for by an application of ours',
    { request: { prompts: ['consent'] }, application: { firstParty: true } },
    'consent',
    'consent_required',
  ],
  ['consent was given', { approvedScopes: [], progress: { approvedBy: ADA } }, CODE, CODE],
  [
    'another person consented',
    { approvedScopes: [], progress: { approvedBy: BEN } },
    'consent',
    'consent_required',
  ],
  [
    'the application is disabled',
    { application: { enabled: false } },
    'unauthorized_client',
    'unauthorized_client',
  ],
  [
    'it may use codes no longer',
    { application: { allowedGrantTypes: [] } },
    'unauthorized_client',
    'unauthorized_client',
  ],
  ['it has lost a scope', { application: { allowedScopes: ['openid'] } }, 'invalid_scope', 'invalid_scope'],
  [
    'it has lost the redirect URI',
    { application: { enabled: false, redirectUris: [] } },
    'unproven',
    'unproven',
  ],
  [
    'the redirect URI is another instance’s',
    { application: { redirectUris: [{ uri: CALLBACK, instanceId: 'ins_2' }] } },
    'unproven',
    'unproven',
  ],
])('when %s', (_, changed, loud, silent) => {
  expect(inWords(nextStep(situation(changed)))).toBe(loud);
  expect(inWords(nextStep({ ...situation(changed), silent: true }))).toBe(silent);
});

test('an application that is gone gets nothing', () => {
  expect(nextStep({ ...situation(), application: undefined })).toEqual({ kind: 'unproven' });
});
