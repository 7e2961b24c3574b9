import {
  SigningAlgorithm,
  type SigningKey,
} from '../../../../../generated/proto/integration/operator/v1/signing_keys.js';
import { confirmation } from '../../confirm.js';
import { asTime, asWord } from '../../output/table.js';
import { shownList } from '../listing.js';
import type { Action, Shown } from '../session.js';

export type AlgorithmName = 'RS256' | 'ES256' | 'EdDSA';

const ALGORITHMS: Record<AlgorithmName, SigningAlgorithm> = {
  RS256: SigningAlgorithm.RS256,
  ES256: SigningAlgorithm.ES256,
  EdDSA: SigningAlgorithm.EDDSA,
};

export const list: Action = async ({ operator, call }) => {
  const { signingKeys } = await operator.listSigningKeys({}, call);
  return shownKeys(signingKeys);
};

export const rotate: Action<{
  algorithm?: readonly AlgorithmName[];
  compromised?: boolean;
  yes?: boolean;
}> = async ({ operator, call }, _, { algorithm = [], compromised = false, yes }) => {
  if (compromised) {
    const which = algorithm.length > 0 ? algorithm.join(', ') : 'every algorithm';
    const confirm = confirmation({ yes });
    await confirm(`Withdraw the keys of ${which}? Every token that they signed is refused at once.`);
  }
  const request = { algorithms: algorithm.map((name) => ALGORITHMS[name]), compromised };
  const { signingKeys } = await operator.rotateSigningKeys(request, call);
  return shownKeys(signingKeys);
};

function shownKeys(keys: readonly SigningKey[]): Shown {
  return shownList(
    { rows: keys, more: false },
    ['key', 'algorithm', 'status', 'signs from', 'signed until', 'published until'],
    (key) => [
      key.kid,
      nameOf(key.algorithm),
      asWord(key.status, 'SIGNING_KEY_STATUS_'),
      asTime(key.activatesAt),
      asTime(key.supersededAt),
      asTime(key.retiresAt),
    ],
  );
}

function nameOf(algorithm: SigningAlgorithm): string {
  const [name = '-'] = Object.entries(ALGORITHMS).find(([, value]) => value === algorithm) ?? [];
  return name;
}
