import { KeyStatus } from '../../../../generated/proto/integration/operator/v1/api_keys.js';
import type { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import {
  createApiKey,
  getApiKey,
  revokeApiKey,
  rotateApiKey,
  updateApiKey,
} from '../../../domain/operator/api-keys.js';
import { statusOf } from '../../../domain/operator/lifetime.js';
import type { ApiKey } from '../../../domain/operator/rows/integrations.js';
import { listPage } from '../../../domain/platform/listing.js';
import type { Handlers } from '../../handlers.js';
import { assertKnown, fromEnum, words } from '../fields.js';
import { type OperatorDependencies, writing } from './write.js';

export const KEY_STATUSES = words(KeyStatus);
export const fromKeyStatus = fromEnum(KEY_STATUSES);

export function apiKeyHandlers(operator: OperatorDependencies): Handlers<OperatorServiceService> {
  return {
    ...writing(operator, {
      createApiKey: async (changes, { expiresAt, ...request }) => {
        const creation = { ...request, expiresAt: expiresAt?.getTime() };
        const { apiKey, key } = await createApiKey(changes, operator.environment, creation);
        return { apiKey: toMessage(apiKey, changes.now), key };
      },
      updateApiKey: async (changes, { expiresAt, ...request }) => {
        const update = { ...request, expiresAt: expiresAt?.getTime() };
        return { apiKey: toMessage(await updateApiKey(changes, update), changes.now) };
      },
      rotateApiKey: async (changes, { expiresAt, ...request }) => {
        const rotation = { ...request, expiresAt: expiresAt?.getTime() };
        const { apiKey, key, previous } = await rotateApiKey(changes, operator.environment, rotation);
        return {
          apiKey: toMessage(apiKey, changes.now),
          key,
          previousApiKey: toMessage(previous, changes.now),
        };
      },
      revokeApiKey: async (changes, { apiKeyId }) => ({
        apiKey: toMessage(await revokeApiKey(changes, apiKeyId), changes.now),
      }),
    }),
    listApiKeys: async ({ integrationId, status, ...listing }) => {
      assertKnown(status, 'status');
      const now = operator.clock();
      const filter = { integrationId, status: fromKeyStatus(status), now };
      const { apiKeys } = operator.unitOfWork.rows;
      const { rows, nextPageToken } = await listPage(listing, (page) => apiKeys.page(page, filter));
      return { apiKeys: rows.map((row) => toMessage(row, now)), nextPageToken };
    },
    getApiKey: async ({ apiKeyId }) => ({
      apiKey: toMessage(await getApiKey(operator.unitOfWork.rows, apiKeyId), operator.clock()),
    }),
  };
}

function toMessage(apiKey: ApiKey, now: number) {
  return { ...apiKey, keyStart: apiKey.hint, status: KEY_STATUSES[statusOf(apiKey, now)] };
}
