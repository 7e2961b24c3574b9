import { describe, expect, test } from '@jest/globals';
import {
  SubscriptionDisabledReason as Reason,
  SubscriptionStatus as Status,
} from '../../../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import { at, subscription, webhookRigs } from './rig.js';

const start = webhookRigs();

describe('integration subscription', () => {
  test('create sends what was typed and shows the signing secret this once', async () => {
    const asked: unknown[] = [];
    const { typeApart } = await start({
      createSubscription: async (request) => {
        asked.push(request);
        return { subscription: subscription(), secret: 'whsec_c2VjcmV0' };
      },
    });
    const args = ['--instance-integration', 'iin_1', '--url', 'https://hooks.example.com/in'];
    const more = [
      '--events',
      'user.updated, worker.*',
      '--events',
      'client.created',
      '--clients',
      'cli_1,cli_2',
    ];
    const { code, stdout, stderr } = await typeApart('subscription', 'create', ...args, ...more);
    expect([code, stderr]).toEqual([0, '']);
    expect(asked).toEqual([
      {
        instanceIntegrationId: 'iin_1',
        url: 'https://hooks.example.com/in',
        eventTypes: ['user.updated', 'worker.*', 'client.created'],
        clientIds: ['cli_1', 'cli_2'],
        description: '',
      },
    ]);
    expect(stdout).toMatch(/^Subscription +whs_1\n/);
    expect(stdout).toMatch(/\nEvents +user\.updated worker\.\*\nClients +all\n/);
    expect(stdout).toContain('\n\nThe signing secret, shown this once:\n\n  whsec_c2VjcmV0\n');
  });

  test.each([
    {
      typed: ['--url', 'https://x.example.com'],
      updateMask: ['url'],
      fields: { url: 'https://x.example.com' },
    },
    { typed: ['--events', '*'], updateMask: ['event_types'], fields: { eventTypes: ['*'] } },
    { typed: ['--clients', 'cli_1'], updateMask: ['client_ids'], fields: { clientIds: ['cli_1'] } },
    { typed: ['--all-clients'], updateMask: ['client_ids'], fields: { clientIds: [] } },
    { typed: ['--description', ''], updateMask: ['description'], fields: { description: '' } },
    {
      typed: ['--events', '*', '--description', 'All', '--expected-version', 'v1'],
      updateMask: ['event_types', 'description'],
      fields: { eventTypes: ['*'], description: 'All', expectedVersion: 'v1' },
    },
  ])('update with $typed writes $updateMask and nothing else', async ({ typed, updateMask, fields }) => {
    const asked: object[] = [];
    const { type } = await start({
      updateSubscription: async (request) => {
        asked.push(request);
        return { subscription: subscription() };
      },
    });
    const { code } = await type('subscription', 'update', 'whs_1', ...typed);
    expect(code).toBe(0);
    expect(asked).toEqual([
      { subscriptionId: 'whs_1', eventTypes: [], clientIds: [], updateMask, ...fields },
    ]);
  });

  test('list is a table of what was asked for', async () => {
    const asked: object[] = [];
    const { type } = await start({
      listSubscriptions: async (request) => {
        asked.push(request);
        return { subscriptions: [subscription({ failingSince: at })], nextPageToken: '' };
      },
    });
    const filter = ['--instance-integration', 'iin_1', '--status', 'disabled', '--limit', '7'];
    const { stdout } = await type('subscription', 'list', ...filter);
    expect(asked).toEqual([
      { instanceIntegrationId: 'iin_1', status: Status.DISABLED, pageSize: 7, pageToken: '' },
    ]);
    expect(stdout).toMatch(
      /^SUBSCRIPTION +CONNECTION +STATUS +EVENTS +ADDRESS +LAST SUCCESS +FAILING SINCE\n/,
    );
    expect(stdout).toMatch(/\nwhs_1 .* never +2026-07-01 10:00:00Z\n$/);
  });

  test.each([
    [Reason.OPERATOR, 'by an operator'],
    [Reason.GONE, 'its address answered 410 Gone'],
    [Reason.FAILING, 'nothing succeeded for too long'],
  ])(
    'show of one that is disabled (%s) says why, and how much it is behind',
    async (disabledReason, words) => {
      const { type } = await start({
        getSubscription: async () => ({
          subscription: subscription({ status: Status.DISABLED, disabledReason, disabledAt: at }),
          pendingDeliveries: 2,
          heldDeliveries: 40,
        }),
      });
      const { stdout } = await type('subscription', 'show', 'whs_1');
      expect(stdout).toContain(`disabled since 2026-07-01 10:00:00Z: ${words}\n`);
      expect(stdout).toMatch(/\nPending +2\nHeld +40\n/);
    },
  );

  test.each([
    ['within a minute', at, '2026-07-01 10:00:00Z, or up to a minute later'],
    ['never', undefined, 'never'],
  ])('show says when a delivery last succeeded: %s', async (_, lastSuccessAt, words) => {
    const { type } = await start({
      getSubscription: async () => ({
        subscription: subscription({ lastSuccessAt }),
        pendingDeliveries: 0,
        heldDeliveries: 0,
      }),
    });
    const { stdout } = await type('subscription', 'show', 'whs_1');
    expect(stdout).toMatch(new RegExp(`\\nLast success +${words}\\n`));
  });

  test('enable says what was missed, with the command that replays it from the first held event on', async () => {
    const { type } = await start({
      enableSubscription: async () => ({
        subscription: subscription(),
        heldDeliveries: 12,
        heldSince: at,
      }),
    });
    const { stdout } = await type('subscription', 'enable', 'whs_1');
    expect(stdout).toContain('held meanwhile: 12.');
    expect(stdout).toMatch(
      /\n {2}integration event replay --subscription whs_1 --since 2026-07-01T10:00:00\.250Z\n$/,
    );
  });

  test('enable of one that missed nothing says so', async () => {
    const { type } = await start({
      enableSubscription: async () => ({ subscription: subscription(), heldDeliveries: 0 }),
    });
    const { stdout } = await type('subscription', 'enable', 'whs_1');
    expect(stdout).toMatch(/\n\nIt missed nothing\.\n$/);
  });

  test('disable says how much is held', async () => {
    const { type } = await start({
      disableSubscription: async () => ({ subscription: subscription(), heldDeliveries: 3 }),
    });
    const { stdout } = await type('subscription', 'disable', 'whs_1');
    expect(stdout).toContain('held from now on: 3.');
  });

  test('create whose connection breaks before its answer says that it may have been made', async () => {
    const { type, goAway } = await start({
      createSubscription: async () => {
        goAway();
        return { subscription: subscription(), secret: 'whsec_bG9zdA' };
      },
    });
    const args = [
      '--instance-integration',
      'iin_1',
      '--url',
      'https://hooks.example.com/in',
      '--events',
      '*',
    ];
    const { code, stdout, stderr } = await type('subscription', 'create', ...args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /gave no usable answer: .*\n.*may have been made: check before you repeat it\.\n$/,
    );
  });

  test('delete with --yes says what was cancelled', async () => {
    const asked: object[] = [];
    const { type } = await start({
      deleteSubscription: async (request) => {
        asked.push(request);
        return { cancelledDeliveries: 5 };
      },
    });
    const { code, stdout } = await type('subscription', 'delete', 'whs_1', '--yes');
    expect([code, stdout]).toEqual([0, 'Deleted. Deliveries that were cancelled with it: 5.\n']);
    expect(asked).toEqual([{ subscriptionId: 'whs_1' }]);
  });

  test.each([
    { typed: [], expected: {} },
    { typed: ['--overlap', '36h'], expected: { overlapSeconds: 129_600 } },
    { typed: ['--overlap', '0', '--yes'], expected: { overlapSeconds: 0 } },
  ])('rotate-secret with $typed shows the new secret this once', async ({ typed, expected }) => {
    const asked: object[] = [];
    const { type } = await start({
      rotateSubscriptionSecret: async (request) => {
        asked.push(request);
        const secrets = [
          { id: 'sec_2', createdAt: at },
          { id: 'sec_1', createdAt: at, expiresAt: at },
        ];
        return { subscription: subscription({ secrets }), secret: 'whsec_bmV3' };
      },
    });
    const { stdout } = await type('subscription', 'rotate-secret', 'whs_1', ...typed);
    expect(asked).toEqual([{ subscriptionId: 'whs_1', ...expected }]);
    expect(stdout).toMatch(/\nSecrets +sec_2 ends never\n +sec_1 ends 2026-07-01 10:00:00Z\n/);
    expect(stdout).toContain('shown this once:\n\n  whsec_bmV3\n');
  });

  test.each([
    ['delete', ['delete', 'whs_1']],
    ['rotate-secret without an overlap', ['rotate-secret', 'whs_1', '--overlap', '0']],
  ])('%s without --yes is refused where there is no terminal, before anything is asked', async (_, args) => {
    const { type } = await start({});
    const { code, stdout, stderr } = await type('subscription', ...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^This cannot be undone, .* Confirm it with --yes\.\n$/);
  });

  test('update with nothing to change is wrong usage', async () => {
    const { type } = await start({});
    const { code, stderr } = await type('subscription', 'update', 'whs_1');
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^Say what to change/)]);
  });
});
