import {
  ApplicationStatus,
  ApplicationType,
  GrantType,
} from '../../../../generated/proto/integration/operator/v1/applications.js';
import { SigningAlgorithm } from '../../../../generated/proto/integration/operator/v1/signing_keys.js';
import type { Application, TokenAlgorithm } from '../../../domain/operator/rows/applications.js';
import { fromEnum, words } from '../words.js';

const TYPES = words(ApplicationType);
const GRANTS = words(GrantType);
const ALGORITHMS: Record<TokenAlgorithm, SigningAlgorithm> = {
  RS256: SigningAlgorithm.RS256,
  ES256: SigningAlgorithm.ES256,
  EdDSA: SigningAlgorithm.EDDSA,
};

export const fromType = fromEnum(TYPES);
export const fromGrant = fromEnum(GRANTS);
export const fromAlgorithm = fromEnum(ALGORITHMS);

export function toAlgorithm(algorithm: TokenAlgorithm): SigningAlgorithm {
  return ALGORITHMS[algorithm];
}

export function toMessage({ links, ...application }: Application) {
  return {
    ...application,
    logoUri: links.logoUri ?? undefined,
    policyUri: links.policyUri ?? undefined,
    tosUri: links.tosUri ?? undefined,
    initiateLoginUri: links.initiateLoginUri ?? undefined,
    type: TYPES[application.type],
    status: application.enabled ? ApplicationStatus.ENABLED : ApplicationStatus.DISABLED,
    allowedGrantTypes: application.allowedGrantTypes.map((grant) => GRANTS[grant]),
    idTokenAlgorithm: toAlgorithm(application.idTokenAlgorithm),
  };
}
