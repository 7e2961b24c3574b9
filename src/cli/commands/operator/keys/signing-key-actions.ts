import {
  SigningAlgorithm,
  type SigningKey,
} from '../../../../../generated/proto/integration/operator/v1/signing_keys.js';
import { confirmation } from '../../confirm.js';
import { asTime, asWord } from '../../output/table.js';
import { shownList } from '../listing.js';
import type { Session, Shown } from '../session.js';

export type AlgorithmName = 'RS256' | 'ES256' | 'EdDSA';

const ALGORITHMS: Record<AlgorithmName, SigningAlgorithm> = {
  RS256: SigningAlgorithm.RS256,
  ES256: SigningAlgorithm.ES256,
  EdDSA: SigningAlgorithm.EDDSA,
};

export async function list({ operator, call }: Session): Promise<Shown> {
  const { signingKeys } = await operator.listSigningKeys({}, call);
  return shownKeys(signingKeys);
}

export async function rotate(
  { operator, call }: Session,
  _: readonly string[],
  {
    algorithm = [],
    compromised = false,
    yes,
  }: { algorithm?: readonly AlgorithmName[]; compromised?: boolean; yes?: boolean },
): Promise<Shown> {
  if (compromised) {
    const which = algorithm.length > 0 ? algorithm.join(', ') : 'every algorithm';
    const confirm = confirmation({ yes });
    await confirm(`Withdraw the keys of ${which}? Every token that they signed is refused at once.`);
  }
  const request = { algorithms: algorithm.map((name) => ALGORITHMS[name]), compromised };
  const { signingKeys } = await operator.rotateSigningKeys(request, call);
  return shownKeys(signingKeys);
}

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
