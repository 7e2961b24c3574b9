import type { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import { CallerRole } from '../../../../generated/proto/integration/operator/v1/service_tokens.js';
import { statusOf } from '../../../domain/operator/lifetime.js';
import type { ServiceToken } from '../../../domain/operator/rows/service-tokens.js';
import {
  createServiceToken,
  revokeServiceToken,
  rotateServiceToken,
} from '../../../domain/operator/service-tokens.js';
import { listPage } from '../../../domain/platform/listing.js';
import type { Handlers } from '../../handlers.js';
import { assertKnown, fromEnum, words } from '../fields.js';
import { fromKeyStatus, KEY_STATUSES } from './api-keys.js';
import { type OperatorDependencies, writing } from './write.js';

const ROLES = words(CallerRole);

const kindOf = fromEnum(ROLES);

export function serviceTokenHandlers(operator: OperatorDependencies): Handlers<OperatorServiceService> {
  return {
    ...writing(operator, {
      createServiceToken: async (changes, { role, label, expiresAt, instanceId }) => {
        const creation = { kind: kindOf(role), label, expiresAt: expiresAt?.getTime(), instanceId };
        const { serviceToken, token } = await createServiceToken(changes, operator.environment, creation);
        return { serviceToken: toMessage(serviceToken, changes.now), token };
      },
      rotateServiceToken: async (changes, { expiresAt, ...request }) => {
        const rotation = { ...request, expiresAt: expiresAt?.getTime() };
        const { serviceToken, token, previous } = await rotateServiceToken(
          changes,
          operator.environment,
          rotation,
        );
        return {
          serviceToken: toMessage(serviceToken, changes.now),
          token,
          previousServiceToken: toMessage(previous, changes.now),
        };
      },
      revokeServiceToken: async (changes, { serviceTokenId }) => ({
        serviceToken: toMessage(await revokeServiceToken(changes, serviceTokenId), changes.now),
      }),
    }),
    listServiceTokens: async ({ status, ...listing }) => {
      assertKnown(status, 'status');
      const now = operator.clock();
      const filter = { status: fromKeyStatus(status), now };
      const { serviceTokens } = operator.unitOfWork.rows;
      const { rows, nextPageToken } = await listPage(listing, (page) => serviceTokens.page(page, filter));
      return { serviceTokens: rows.map((row) => toMessage(row, now)), nextPageToken };
    },
  };
}

function toMessage(token: ServiceToken, now: number) {
  return { ...token, role: ROLES[token.kind], status: KEY_STATUSES[statusOf(token, now)] };
}
