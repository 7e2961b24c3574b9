import type { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import {
  CallerRole,
  type ServiceToken as ServiceTokenMessage,
} from '../../../../generated/proto/integration/operator/v1/service_tokens.js';
import { statusOf } from '../../../domain/operator/lifetime.js';
import {
  createServiceToken,
  revokeServiceToken,
  rotateServiceToken,
  type ServiceToken,
} from '../../../domain/operator/service-tokens.js';
import { listPage } from '../../../domain/platform/listing.js';
import type { Handlers } from '../../handlers.js';
import { fromEnum, fromKeyStatusMessage, toDate, toKeyStatusMessage } from './messages.js';
import { type OperatorDependencies, write } from './write.js';

const ROLES: Record<ServiceToken['kind'], CallerRole> = {
  operator: CallerRole.OPERATOR,
  platform: CallerRole.PLATFORM,
  support: CallerRole.SUPPORT,
  auditor: CallerRole.AUDITOR,
  key_custodian: CallerRole.KEY_CUSTODIAN,
};

const kindOf = fromEnum<ServiceToken['kind'], CallerRole>(ROLES);

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
      const filter = { status: fromKeyStatusMessage(status), now };
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

function toMessage(token: ServiceToken, now: number): ServiceTokenMessage {
  return {
    id: token.id,
    role: ROLES[token.kind],
    instanceId: token.instanceId ?? undefined,
    label: token.label,
    status: toKeyStatusMessage(statusOf(token, now)),
    createdAt: new Date(token.createdAt),
    expiresAt: toDate(token.expiresAt),
    revokedAt: toDate(token.revokedAt),
    lastUsedAt: toDate(token.lastUsedAt),
  };
}
