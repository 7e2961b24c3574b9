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
import { words } from '../words.js';
import { fromEnum, fromKeyStatus, KEY_STATUSES } from './messages.js';
import { type OperatorDependencies, write } from './write.js';

const ROLES = words(CallerRole);

const kindOf = fromEnum(ROLES);

export function serviceTokenHandlers(operator: OperatorDependencies): Handlers<OperatorServiceService> {
  return {
    createServiceToken: ({ role, label, expiresAt, instanceId }, context) =>
      write(operator, context, async (changes) => {
        const creation = { kind: kindOf(role), label, expiresAt: expiresAt?.getTime(), instanceId };
        const { serviceToken, token } = await createServiceToken(changes, operator.environment, creation);
        return { serviceToken: toMessage(serviceToken, changes.now), token };
      }),
    listServiceTokens: async ({ status, ...listing }) => {
      const now = operator.clock();
      const filter = { status: fromKeyStatus(status), now };
      const { serviceTokens } = operator.unitOfWork.rows;
      const { rows, nextPageToken } = await listPage(listing, (page) => serviceTokens.page(page, filter));
      return { serviceTokens: rows.map((row) => toMessage(row, now)), nextPageToken };
    },
    rotateServiceToken: ({ expiresAt, ...request }, context) =>
      write(operator, context, async (changes) => {
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
      }),
    revokeServiceToken: ({ serviceTokenId }, context) =>
      write(operator, context, async (changes) => ({
        serviceToken: toMessage(await revokeServiceToken(changes, serviceTokenId), changes.now),
      })),
  };
}

function toMessage(token: ServiceToken, now: number) {
  return { ...token, role: ROLES[token.kind], status: KEY_STATUSES[statusOf(token, now)] };
}
