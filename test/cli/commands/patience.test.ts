import { describe, expect, test } from '@jest/globals';
import { watch } from '../../../src/cli/commands/listen/listen-subscription.js';
import type { Session } from '../../../src/cli/commands/operator/session.js';
import { replay } from '../../../src/cli/commands/operator/webhooks/event-replay.js';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import { refusalOf } from '../../rpc/rig.js';
import type { WebhookHandlers } from './operator/webhooks/rig.js';

const NONE_MS = 0;

describe('when the service stays away for longer than a command waits', () => {
  const sessionWith = (webhooks: WebhookHandlers) => ({ webhooks }) as unknown as Session;

  const away = new ServiceError(ErrorCode.UNAVAILABLE, 'The service is away.');

  test('a replay ends with what was made, and with the command that continues', async () => {
    const session = sessionWith({
      replayEvents: async function* () {
        yield { createdDeliveries: 5, lastEventId: 'evt_5', done: false };
        throw away;
      },
    });
    const range = { since: new Date('2026-07-01'), until: new Date('2026-07-02'), subscription: 'whs_1' };
    const { json, text, failure } = await replay(session, [], range, NONE_MS);
    expect(text).toBe('Deliveries made: 5.');
    expect(json).toMatchObject({
      createdDeliveries: 5,
      done: false,
      resumption: expect.stringMatching(/^integration event replay --subscription whs_1 .* --after evt_5$/),
    });
    expect(failure?.message).toContain((json as { resumption: string }).resumption);
  });

  test('a listener ends with the reason', async () => {
    let looks = 0;
    const session = sessionWith({
      getSubscription: async () => {
        looks += 1;
        throw away;
      },
    });
    const refusal = await refusalOf(watch(session, 'whs_1', new AbortController().signal, NONE_MS));
    expect([refusal.code, looks]).toEqual([ErrorCode.UNAVAILABLE, 2]);
  });
});
