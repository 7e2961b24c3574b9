import { describe, expect, jest, test } from '@jest/globals';
import { onboard } from '../../../../src/cli/commands/operator/onboard.js';
import type { Session } from '../../../../src/cli/commands/operator/session.js';
import { ErrorCode, ServiceError } from '../../../../src/errors/service-error.js';

const platform = { getInstance: async () => ({}) };

test('a connection that could not be configured is printed, because it was made', async () => {
  const operator = {
    createIntegration: async () => ({ integration: { id: 'itg_made' } }),
    connectInstance: async () => ({ instanceIntegration: { id: 'iin_made' } }),
    configureInstanceIntegration: async () => {
      throw new ServiceError(ErrorCode.UNAVAILABLE, 'Try again.', { internal: 'the domain is restarting' });
    },
  };
  const session = { operator, platform, address: 'localhost:4002' } as unknown as Session;
  const { json, text, failure } = await onboard(session, ['Brightform'], { instance: 'ins_one' });
  expect(json).toEqual({ integrationId: 'itg_made', instanceIntegrationId: 'iin_made' });
  expect(text).toMatch(/Integration +itg_made\s+Instance integration +iin_made/);
  expect(failure?.message).toMatch(
    /^localhost:4002 gave no usable answer: the domain is restarting\n[^\n]*check before you repeat it\.\nThe items above were made before the failure and remain\.$/,
  );
});

describe('makes nothing with', () => {
  const REDIRECT = 'https://app.example.com/cb';
  const PAST = new Date('2026-01-01');

  test.each([
    ['a redirect URI without https', { redirectUri: ['http://app.example.com/cb'] }, 'redirect_uris[0].uri'],
    ['a redirect URI twice', { redirectUri: [REDIRECT, REDIRECT] }, 'redirect_uris[1].uri'],
    [
      'a scheme of its own that is not public',
      { redirectUri: ['com.example.app:/cb'] },
      'redirect_uris[0].uri',
    ],
    ['an end of the key in the past', { keyExpires: PAST }, 'expires_at'],
    ['a webhook address that is none', { webhookUrl: 'hooks.example.com' }, 'url'],
    ['a webhook address with credentials', { webhookUrl: 'https://me:secret@hooks.example.com/' }, 'url'],
    ['an empty webhook address', { webhookUrl: '' }, 'url'],
    [
      'a pattern of no event',
      { webhookUrl: 'https://hooks.example.com/', events: ['a.*'] },
      'event_types[0]',
    ],
  ])('%s', async (_, options, path) => {
    const createIntegration = jest.fn();
    const session = { operator: { createIntegration }, platform } as unknown as Session;
    const onboarding = onboard(session, ['Brightform'], { instance: 'ins_one', ...options });
    await expect(onboarding).rejects.toMatchObject({
      code: ErrorCode.INVALID_REQUEST,
      fieldViolations: [{ path, message: expect.any(String) }],
    });
    expect(createIntegration).not.toHaveBeenCalled();
  });
});
