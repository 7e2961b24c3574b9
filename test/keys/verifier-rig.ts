import type { PublicKey } from '../../src/domain/sign-on/keys/signing.js';
import type { SigningKey } from '../../src/domain/sign-on/keys/signing-keys.js';
import { AccessTokenVerifier } from '../../src/keys/access-token-verifier.js';
import { fakeClock } from '../domain/clock.js';
import { forge, ISSUER } from './ring-rig.js';

export const HOUR_MS = 3_600_000;

/** A verifier over a key set that the test changes, and tokens for it. */
export function verifierRig(keys: readonly SigningKey[]) {
  const clock = fakeClock();
  const domain = {
    ...{ keys, fetches: 0, away: false, maxAgeSeconds: 300 },
    wanted: undefined as string | undefined,
    /** Asked in place of `keys`. */
    ask: undefined as ((wantedKid?: string) => Promise<{ keys: readonly PublicKey[] }>) | undefined,
    /** Holds the next answer until the returned function gives it these keys. */
    hold: () => {
      let release: (those: readonly SigningKey[]) => void = () => undefined;
      held = new Promise((resolve) => {
        release = resolve;
      });
      return async (those: readonly SigningKey[]) => {
        release(those);
        await new Promise(setImmediate);
      };
    },
  };
  let held: Promise<readonly SigningKey[]> | undefined;
  const verifier = new AccessTokenVerifier({
    issuer: ISSUER,
    clock: clock.now,
    fetchKeySet: async (wantedKid) => {
      domain.fetches += 1;
      domain.wanted = wantedKid;
      if (domain.away) {
        throw new Error('The domain is away.');
      }
      const { maxAgeSeconds } = domain;
      const asked: Promise<{ keys: readonly PublicKey[] }> | undefined = domain.ask?.(wantedKid);
      const answer = (await asked)?.keys ?? held ?? domain.keys;
      held = undefined;
      return {
        keys: (await answer).map(({ kid, algorithm, publicJwk }) => ({
          kid,
          algorithm,
          jwkJson: JSON.stringify(publicJwk),
        })),
        maxAgeSeconds,
      };
    },
  });
  const claims = () => {
    const now = Math.floor(clock.now() / 1_000);
    return {
      iss: ISSUER,
      sub: 'acc_1',
      aud: ISSUER,
      client_id: 'app_1',
      iat: now,
      exp: now + HOUR_MS / 1_000,
      jti: 'token-1',
      scope: 'openid email',
      grant_id: 'grant-1',
    };
  };
  const token = (key: SigningKey, changed: object = {}, header: object = {}) =>
    forge(key, { ...claims(), ...changed }, { typ: 'at+jwt', ...header });
  return { verifier, clock, domain, token };
}
