import { createHash } from 'node:crypto';
import type { Comparison, Priced } from '../harness/comparison.js';
import { type Load, startLoad } from '../load/load.js';
import { OIDC_PEER_NAME, startOidcPeer } from '../subjects/oidc-peer.js';
import { type StoreKind, settingsOn, storeIn } from '../subjects/postgres.js';
import { startService } from '../subjects/service.js';
import { plantUsedGrants, setIdTokenAlgorithm, signOnService } from '../subjects/sign-on-service.js';
import type { SignOnSubject } from '../subjects/sign-on-subject.js';
import { makeWorkplace } from '../subjects/workplace.js';
import { pricedLoad } from './priced-load.js';

const CONNECTIONS = 32;
const ROUND_MS = 3_000;
/** More than either side can exchange in a round. */
const CODES = 10_000;
const ACCESS_TOKENS = 200;
const FEW_GRANTS = 10_000;
const MANY_GRANTS = 100 * FEW_GRANTS;

const CODE_VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const pkce = {
  codeVerifier: CODE_VERIFIER,
  codeChallenge: createHash('sha256').update(CODE_VERIFIER).digest('base64url'),
};

type Question = (subject: SignOnSubject) => ReturnType<SignOnSubject['codeExchanges']>;

const exchangeOfCodes: Question = (subject) => subject.codeExchanges(CODES);
const refresh: Question = (subject) => subject.refreshes(CONNECTIONS);
const userinfo: Question = (subject) => subject.userinfos(ACCESS_TOKENS);

const CODE_EXCHANGE = {
  what: 'code exchange, RS256 ID token',
  limit: 'The RSA signature of the ID token, and the commit',
};
const REFRESH = { what: 'refresh', limit: 'The rows that are read and written in the commit' };
const USERINFO = { what: 'userinfo', limit: 'HTTP, and the check of the signature of the access token' };

/** What the endpoints of programs give a second. */
export const tokens: readonly Comparison[] = [
  againstPeer(CODE_EXCHANGE, { goal: 1.7, question: exchangeOfCodes, algorithm: 'RS256' }),
  againstPeer(
    { what: 'code exchange, ES256 ID token', limit: 'The rows that are read and written in the commit' },
    { goal: 2.3, question: exchangeOfCodes, algorithm: 'ES256' },
  ),
  againstPeer(REFRESH, { goal: 2.8, question: refresh, algorithm: 'RS256' }),
  againstPeer(USERINFO, { goal: 1, question: userinfo, algorithm: 'RS256' }),
  amongMany('code exchange', exchangeOfCodes),
  amongMany('refresh', refresh),
  amongMany('userinfo', userinfo),
];

const on = { store: 'PostgreSQL', algorithm: 'RS256' } as const;

export const tokensOnPostgres: readonly Comparison[] = [
  againstPeer(CODE_EXCHANGE, { ...on, question: exchangeOfCodes }),
  againstPeer(REFRESH, { ...on, question: refresh }),
  againstPeer(USERINFO, { ...on, question: userinfo }),
];

function againstPeer(
  priced: Priced,
  {
    goal,
    question,
    algorithm,
    store = 'SQLite',
  }: { goal?: number; question: Question; algorithm: string; store?: StoreKind },
): Comparison {
  const name = `${priced.what}${storeIn(store)} (answers/s)`;
  return {
    rows: { [name]: { referenceName: OIDC_PEER_NAME, goal, higherIsBetter: true } },
    priced: store === 'SQLite' ? priced : undefined,
    warmUpRounds: 2,
    rounds: store === 'SQLite' ? 5 : 3,
    setUp: async (scope, noteCost) => {
      const workplace = makeWorkplace(scope);
      const service = await startService(scope, workplace, await settingsOn(store, scope, workplace));
      await setIdTokenAlgorithm(workplace, service.env, algorithm);
      const ours = signOnService(workplace, service, pkce);
      const peer = await startOidcPeer(scope, { algorithm, ...pkce });
      const load = startLoad(scope);
      const rate = async (subject: SignOnSubject, ask: Load) => {
        const target = await question(subject);
        const { requestsPerSecond } = await ask({ target, connections: CONNECTIONS, durationMs: ROUND_MS });
        return { [name]: requestsPerSecond };
      };
      const askOurs = pricedLoad(load, service, noteCost);
      return { ours: () => rate(ours, askOurs), reference: () => rate(peer, load) };
    },
  };
}

/** Whether years of use make it slower. */
function amongMany(what: string, question: Question): Comparison {
  const name = `${what}, 1,000,000 grants and codes stored (ms an answer)`;
  return {
    rows: { [name]: { referenceName: '10,000 stored', goal: 1.2, higherIsBetter: false } },
    warmUpRounds: 2,
    rounds: 5,
    setUp: async (scope) => {
      const start = async (grants: number) => {
        const workplace = makeWorkplace(scope);
        const service = await startService(scope, workplace);
        plantUsedGrants(workplace, grants);
        return signOnService(workplace, service, pkce);
      };
      const many = await start(MANY_GRANTS);
      const few = await start(FEW_GRANTS);
      const load = startLoad(scope);
      const time = async (subject: SignOnSubject) => {
        const target = await question(subject);
        const { requestsPerSecond } = await load({ target, connections: CONNECTIONS, durationMs: ROUND_MS });
        return { [name]: (1_000 * CONNECTIONS) / requestsPerSecond };
      };
      return { ours: () => time(many), reference: () => time(few) };
    },
  };
}
