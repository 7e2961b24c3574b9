import { PassThrough } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import type { Session } from '../../../../../src/cli/commands/operator/session.js';
import { ReplayBar } from '../../../../../src/cli/commands/operator/webhooks/event-replay.js';
import type { WebhookHandlers } from './rig.js';

const range = { since: new Date('2026-07-01T00:00:00Z'), until: new Date('2026-07-01T10:00:00Z') };

describe('the bar of a replay', () => {
  function barOn({ isTTY }: { isTTY: boolean }, getEvent: WebhookHandlers['getEvent']) {
    const session = { webhooks: { getEvent } } as unknown as Session;
    const output = Object.assign(new PassThrough(), { isTTY });
    return { output, bar: new ReplayBar(session, range, output as unknown as NodeJS.WriteStream) };
  }

  const occurred = (time: string): WebhookHandlers['getEvent'] => {
    return async ({ eventId }) => ({
      event: {
        id: eventId,
        type: 'user.updated',
        entityType: 'user',
        entityId: 'usr_1',
        instanceId: 'ins_1',
        clientId: 'cli_1',
        occurredAt: new Date(time),
      },
      body: Buffer.alloc(0),
    });
  };
  const some = { createdDeliveries: 40, lastEventId: 'evt_1', done: false };

  test.each([
    ['2026-07-01T05:00:00Z', '[###############...............]  50 %  40 deliveries made'],
    ['2026-06-30T23:00:00Z', '[..............................]   0 %  40 deliveries made'],
  ])('stands where the time of the last event, %s, is in the range', async (time, line) => {
    const { output, bar } = barOn({ isTTY: true }, occurred(time));
    await bar.show(some);
    expect(String(output.read())).toContain(line);
  });

  test('is full at the end', async () => {
    const { output, bar } = barOn({ isTTY: true }, undefined);
    await bar.show({ ...some, done: true });
    expect(String(output.read())).toContain('100 %');
  });

  test('does without where the event cannot be read', async () => {
    const { output, bar } = barOn({ isTTY: true }, async () => {
      throw new Error('The event was purged.');
    });
    await bar.show(some);
    expect(String(output.read())).toContain('  0 %  40 deliveries made');
  });

  test('asks nothing and writes nothing where there is no terminal', async () => {
    let asked = 0;
    const { output, bar } = barOn({ isTTY: false }, async () => {
      asked += 1;
      return { event: undefined, body: Buffer.alloc(0) };
    });
    await bar.show(some);
    bar.clear();
    expect([asked, output.read()]).toEqual([0, null]);
  });
});
