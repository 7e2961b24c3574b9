import { createHash } from 'node:crypto';
import { hashSync } from '@node-rs/argon2';
import type { Comparison } from '../harness/comparison.js';
import type { Scope } from '../harness/scope.js';
import { startLoad } from '../load/load.js';
import type { Target } from '../load/questions.js';
import { REQUESTS_PER_SIGN_IN } from '../load/sign-in.js';
import { ARGON2_FLOOR_NAME, argon2Rate } from '../subjects/argon2-floor.js';
import { startService } from '../subjects/service.js';
import {
  accountIdsOf,
  demoApplication,
  emailsOf,
  plantPasswords,
  signOnService,
} from '../subjects/sign-on-service.js';
import { makeWorkplace } from '../subjects/workplace.js';
import { pricedLoad } from './priced-load.js';

/** Enough to keep the password threads busy; with more, the service refuses some at first. */
const BROWSERS = 8;
const REFRESHERS = 4;
const ROUND_MS = 4_000;
const PASSWORD = 'a password for the bench';
const PROMISED_P99_MS = 50;

const CODE_VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const codeChallenge = createHash('sha256').update(CODE_VERIFIER).digest('base64url');

const SIGN_INS = 'sign-in, from redirect to tokens (sign-ins/s)';
const P99 = 'refresh while all sign in, p99 (ms)';

const PRICED = { what: 'sign-in, from redirect to tokens', limit: 'The password: argon2id' };

/** The passwords are what a sign-in is made of: how much of their rate is left. */
export const signIn: Comparison = {
  rows: { [SIGN_INS]: { referenceName: ARGON2_FLOOR_NAME, goal: 0.55, higherIsBetter: true } },
  priced: PRICED,
  warmUpRounds: 1,
  rounds: 5,
  setUp: async (scope, noteCost) => {
    const { service, signIns, hash } = await startSignIns(scope);
    const load = pricedLoad(startLoad(scope), service, noteCost, REQUESTS_PER_SIGN_IN);
    return {
      ours: async () => {
        const { requestsPerSecond } = await load({
          target: signIns,
          connections: BROWSERS,
          durationMs: ROUND_MS,
        });
        return { [SIGN_INS]: requestsPerSecond / REQUESTS_PER_SIGN_IN };
      },
      reference: async () => ({ [SIGN_INS]: await argon2Rate(hash, PASSWORD, ROUND_MS) }),
    };
  },
};

/** Token latency while many people sign in. */
export const tokensInStorm: Comparison = {
  rows: { [P99]: { referenceName: 'what is promised', goal: 1, higherIsBetter: false } },
  warmUpRounds: 1,
  rounds: 5,
  setUp: async (scope) => {
    const { signIns, subject } = await startSignIns(scope);
    const storm = startLoad(scope);
    const load = startLoad(scope);
    return {
      ours: async () => {
        const refreshes = await subject.refreshes(REFRESHERS);
        const [{ p99Ms }] = await Promise.all([
          load({ target: refreshes, connections: REFRESHERS, durationMs: ROUND_MS }),
          storm({ target: signIns, connections: BROWSERS, durationMs: ROUND_MS }),
        ]);
        return { [P99]: p99Ms };
      },
      reference: async () => ({ [P99]: PROMISED_P99_MS }),
    };
  },
};

/** A service with people who can sign in. */
export async function startSignIns(scope: Scope) {
  const workplace = makeWorkplace(scope);
  const service = await startService(scope, workplace);
  const application = demoApplication(workplace);
  const hash = hashSync(PASSWORD);
  plantPasswords(workplace, accountIdsOf(application.people), hash);
  const { clientId, clientSecret, redirectUri } = application;
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: 'openid profile email',
    state: 'CqI6pyvXbg_E8lvx2gq5VA',
    nonce: 'n-0S6_WzA2MjrJ8kQe',
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
  });
  const signIns: Target = {
    host: '127.0.0.1',
    port: service.signOnPort,
    path: 'a sign-in',
    headers: {},
    expectStatus: [200, 303],
    signIn: {
      authorizePath: `/auth/authorize?${query}`,
      emails: emailsOf(workplace, accountIdsOf(application.people)),
      password: PASSWORD,
      tokenRequest: {
        grant_type: 'authorization_code',
        redirect_uri: redirectUri,
        code_verifier: CODE_VERIFIER,
        client_id: clientId,
        client_secret: clientSecret,
      },
    },
  };
  return {
    service,
    signIns,
    hash,
    subject: signOnService(workplace, service, { codeChallenge, codeVerifier: CODE_VERIFIER }),
  };
}
