import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { hostname } from 'node:os';
import { describe, expect, test } from '@jest/globals';
import { InstanceIntegrationStatus } from '../../../../generated/proto/integration/operator/v1/connections.js';
import { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import {
  SubscriptionDisabledReason,
  SubscriptionStatus,
} from '../../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import { serve } from '../../../../src/rpc/handlers.js';
import { OutputLines } from '../../../support/output-lines.js';
import { mainFile } from '../../../support/service-process.js';
import { signalled } from '../../../support/signalled.js';
import { integration, sharedIntegration } from '../../typed.js';
import { at, subscription, webhookRigs } from '../operator/webhooks/rig.js';
import { SECRET, subscriptionsInMemory } from './rig.js';

const start = webhookRigs();

async function listening(present: Parameters<typeof subscriptionsInMemory>[0] = []) {
  const memory = subscriptionsInMemory(present);
  const rig = await start(memory.handlers);
  const listener = rig.begin('listen', '--instance-integration', 'iin_1');
  await listener.errors.nextText(SECRET);
  return { ...rig, ...memory, listener };
}

describe('the subscription of integration listen', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'is removed on %s, which is no failure',
    async (signal) => {
      const { listener, kept } = await listening();
      expect(kept.size).toBe(1);
      expect(await listener.interrupt(signal)).toBe(0);
      expect(kept.size).toBe(0);
    },
  );

  test('stays where a second signal of any kind ends the command before the removal is done', async () => {
    const { handlers, kept } = subscriptionsInMemory();
    const asked = signalled();
    const deleteSubscription = () => {
      asked.tell();
      return new Promise<never>(() => undefined);
    };
    const { begin } = await start({ ...handlers, deleteSubscription });
    const listener = begin('listen', '--instance-integration', 'iin_1');
    await listener.errors.nextText(SECRET);
    listener.child.kill('SIGINT');
    await asked.told;
    expect(await listener.interrupt('SIGTERM')).toBeNull();
    expect(kept.size).toBe(1);
  });

  test('is removed when the reader of the lines ends', async () => {
    const { listener, kept, created } = await listening();
    listener.child.stdout?.destroy();
    await fetch(created[0]?.url as string, { method: 'POST', body: '{}' });
    expect(await listener.ended).toBe(0);
    expect(kept.size).toBe(0);
  });

  test('is removed when the reader of the sentences ends', async () => {
    const { listener, kept } = await listening();
    const [made] = kept.values();
    listener.child.stderr?.destroy();
    kept.set('whs_made1', subscription({ ...made, status: SubscriptionStatus.DISABLED, disabledAt: at }));
    expect(await listener.ended).toBe(0);
    expect(kept.size).toBe(0);
  });

  const FULL = '/dev/full';
  const testOnFull = existsSync(FULL) ? test : test.skip;

  testOnFull('is removed when the disk of the lines is full, which is a failure', async () => {
    const { handlers, kept, created } = subscriptionsInMemory();
    const { settings } = await start(handlers);
    const lines = openSync(FULL, 'w');
    const args = [mainFile, 'listen', '--instance-integration', 'iin_1'];
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const env = { ...settings, PATH, NODE_COMPILE_CACHE };
    const options = { env, stdio: ['ignore', lines, 'pipe'] };
    const listener = spawn(process.execPath, args, options as SpawnOptions);
    closeSync(lines);
    const errors = new OutputLines();
    errors.read(listener.stderr);
    await errors.nextText(SECRET);
    await fetch(created[0]?.url as string, { method: 'POST', body: '{}' });
    expect(await once(listener, 'close')).toEqual([1, null]);
    expect(errors.text()).toMatch(/^The output is not complete: ENOSPC\b/m);
    expect(kept.size).toBe(0);
  });

  test('outlives a service that is started again', async () => {
    const { listener, kept, goAway, comeBack } = await listening();
    goAway();
    await listener.errors.nextText('The service does not answer.');
    await comeBack();
    await listener.errors.nextText('The service is back.');
    expect(await listener.interrupt()).toBe(0);
    expect(kept.size).toBe(0);
  });

  test('is named with what to type where it cannot be removed', async () => {
    const { listener, goAway } = await listening();
    goAway();
    expect(await listener.interrupt()).toBe(1);
    expect(listener.errors.text()).toMatch(
      /whs_made1 could not be removed: .*\nRemove it with:\n\n {2}integration subscription delete whs_made1 --yes$/m,
    );
  });

  test('is missed when another process deletes it', async () => {
    const { listener, kept } = await listening();
    kept.clear();
    expect(await listener.ended).toBe(1);
    expect(listener.errors.text()).toContain('The subscription was deleted');
  });

  test('is reported when it is disabled, and when it is active again', async () => {
    const { listener, kept } = await listening();
    const [made] = kept.values();
    const gone = { status: SubscriptionStatus.DISABLED, disabledReason: SubscriptionDisabledReason.GONE };
    kept.set('whs_made1', subscription({ ...made, ...gone, disabledAt: at }));
    const line = await listener.errors.nextText('is disabled');
    expect(line).toContain('its address answered 410 Gone. ');
    expect(line).toContain('integration subscription enable whs_made1');
    kept.set('whs_made1', subscription(made));
    await listener.errors.nextText('active again');
  });

  test('of a listener that was killed is removed by the next one, and no other', async () => {
    const leftBy = (pid: number, host = hostname()) => `integration listen, process ${pid} on ${host}`;
    const present = [
      subscription({ id: 'whs_left', description: leftBy(4_194_305) }),
      subscription({ id: 'whs_running', description: leftBy(process.pid) }),
      subscription({ id: 'whs_elsewhere', description: leftBy(4_194_305, `${hostname()}-2`) }),
      subscription({ id: 'whs_own' }),
    ];
    const { kept } = await listening(present);
    expect([...kept.keys()]).toEqual(['whs_running', 'whs_elsewhere', 'whs_own', 'whs_made1']);
  });
});

describe('integration listen', () => {
  test('takes the first connection that is set up unless one is given', async () => {
    const { handlers, created } = subscriptionsInMemory();
    const connection = (id: string) => ({
      id,
      integrationId: 'itg_1',
      instanceId: 'ins_1',
      instanceName: 'Harborlight',
      status: InstanceIntegrationStatus.CONFIGURED,
      createdAt: at,
      updatedAt: at,
      version: 'v1',
    });
    const asked: unknown[] = [];
    const operator = serve(OperatorServiceService, {
      listInstanceIntegrations: async ({ status }) => {
        asked.push(status);
        return {
          instanceIntegrations: [connection('iin_newer'), connection('iin_first')],
          nextPageToken: '',
        };
      },
    });
    const { begin } = await start(handlers, operator);
    const listener = begin('listen');
    await listener.errors.nextText(SECRET);
    expect(created).toMatchObject([{ instanceIntegrationId: 'iin_first', eventTypes: ['*'] }]);
    expect(asked).toEqual([InstanceIntegrationStatus.CONFIGURED]);
  });

  test.each([
    ['the environment', { ENVIRONMENT: 'live', INTEGRATION_TOKEN: 'token-of-operator' }],
    ['the token', { INTEGRATION_TOKEN: `operator_live_${'0'.repeat(48)}` }],
  ])('is refused on live, as %s tells, before any call', async (_, settings) => {
    const address = { INTEGRATION_ADDRESS: '127.0.0.1:9' };
    const { code, stdout, stderr } = await integration(['listen'], { ...address, ...settings });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^`integration listen` works with a demo environment only: .*\n$/);
  });

  test.each(['ftp://localhost/', 'http://', 'localhost:99999/'])(
    'does not forward to %s',
    async (address) => {
      const { code, stderr } = await sharedIntegration(['listen', '--forward-to', address]);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining('It must be an address such as http://localhost'),
      ]);
    },
  );
});
