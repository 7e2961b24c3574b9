import { expect, test } from '@jest/globals';
import { onboard } from '../../../../src/cli/commands/operator/onboard.js';
import type { Session } from '../../../../src/cli/commands/operator/session.js';
import { ErrorCode, ServiceError } from '../../../../src/errors/service-error.js';

test('a connection that could not be configured is printed, because it was made', async () => {
  const operator = {
    createIntegration: async () => ({ integration: { id: 'itg_made' } }),
    connectInstance: async () => ({ instanceIntegration: { id: 'iin_made' } }),
    configureInstanceIntegration: async () => {
      throw new ServiceError(ErrorCode.UNAVAILABLE, 'Try again.', { internal: 'the domain is restarting' });
    },
  };
  const session = { operator, address: 'localhost:4002' } as unknown as Session;
  const { json, text, failure } = await onboard(session, ['Brightform'], { instance: 'ins_one' });
  expect(json).toEqual({ integrationId: 'itg_made', instanceIntegrationId: 'iin_made' });
  expect(text).toMatch(/Integration +itg_made\s+Instance integration +iin_made/);
  expect(failure?.message).toMatch(
    /^localhost:4002 gave no usable answer: the domain is restarting\n[^\n]*check before you repeat it\.\nThe items above were made before the failure and remain\.$/,
  );
});
