import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { MaintenanceServiceService } from '../../generated/proto/integration/maintenance/v1/maintenance.js';
import { type CallContext, type Handler, serve } from '../../src/rpc/handlers.js';
import { LONGER_THAN_A_TEST_MS } from '../support/eventually.js';
import { signalled } from '../support/signalled.js';
import { rpcRigs } from './rig.js';

type PurgeHandler = Handler<typeof MaintenanceServiceService.purgeExpired>;

const ANSWER = { counts: [], more: false, otherRunActive: false };
const REASON = new Error('the answer is no longer wanted');

describe('a call with a signal', () => {
  const rigs = rpcRigs();

  async function serving(purgeExpired: PurgeHandler) {
    const rig = await rigs.start([serve(MaintenanceServiceService, { purgeExpired })]);
    const client = rig.channel().clientOf(MaintenanceServiceService);
    const options = { requestId: 'r', deadlineMs: LONGER_THAN_A_TEST_MS };
    return (signal: AbortSignal) => client.purgeExpired({ limit: 1 }, { ...options, signal });
  }

  test('is answered like others unless aborted, and releases the signal', async () => {
    const call = await serving(async () => ANSWER);
    const { signal } = new AbortController();
    const listeners: string[] = [];
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (type: string, listener: () => void) => {
      listeners.push(`add ${type}`);
      add(type, listener);
    };
    signal.removeEventListener = (type: string, listener: () => void) => {
      listeners.push(`remove ${type}`);
      remove(type, listener);
    };
    await expect(call(signal)).resolves.toEqual(ANSWER);
    expect(listeners).toEqual(['add abort', 'remove abort']);
  });

  test('fails with the reason when it is aborted, and its handler is notified', async () => {
    const { told: handling, tell: begun } = signalled<CallContext>();
    const call = await serving((_, context) => {
      begun(context);
      return new Promise(() => undefined);
    });
    const cancel = new AbortController();
    const outcome = call(cancel.signal).catch((error: unknown) => error);
    const { signal } = await handling;
    const heard = once(signal, 'abort');
    cancel.abort(REASON);
    expect(await outcome).toBe(REASON);
    await heard;
  });

  test('is never made where the signal was aborted before', async () => {
    let calls = 0;
    const call = await serving(async () => {
      calls += 1;
      return ANSWER;
    });
    await expect(call(AbortSignal.abort(REASON))).rejects.toBe(REASON);
    await call(new AbortController().signal);
    expect(calls).toBe(1);
  });
});
