import { once } from 'node:events';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import {
  MaintenanceServiceService,
  PurgedKind,
  SigningKeyStep,
} from '../../../generated/proto/integration/maintenance/v1/maintenance.js';
import { codeMinutesOver, maintenanceOver } from '../../../src/cli/roles/calls-of-domain.js';
import { type CallContext, type Handlers, serve } from '../../../src/rpc/handlers.js';
import { rpcRigs } from '../../rpc/rig.js';
import { fakeTimeouts } from '../../support/fake-timeouts.js';
import { signalled } from '../../support/signalled.js';

const minute = new Date('2026-07-01T10:00:00Z');
const expiresAt = new Date('2026-07-01T10:11:00Z');
const call = {
  requestId: 'authorization-code-expiry/2026-07-01T10:00Z/expire-1/1',
  signal: AbortSignal.any([]),
};

describe('what the worker asks of the domain', () => {
  afterEach(() => {
    jest.useRealTimers();
  });
  const rigs = rpcRigs();

  async function serving(handlers: Handlers<typeof MaintenanceServiceService>) {
    const rig = await rigs.start([serve(MaintenanceServiceService, handlers)]);
    const channel = rig.channel();
    return { maintenance: maintenanceOver(channel), codeMinutes: codeMinutesOver(channel), lines: rig.lines };
  }

  test('is answered with what a purge deleted, named as people name it', async () => {
    const { maintenance } = await serving({
      purgeExpired: async ({ limit, run }) => ({
        otherRunActive: run !== 'r1',
        counts: [
          { kind: PurgedKind.AUTHORIZATION_CODE, count: limit },
          { kind: PurgedKind.API_KEY, count: 2 },
        ],
        more: true,
      }),
    });
    expect(await maintenance.purgeExpired({ limit: 7, run: 'r1' }, call)).toEqual({
      deleted: { 'authorization code': 7, 'api key': 2 },
      more: true,
      otherRunActive: false,
    });
  });

  test.each([
    { title: 'when to ask again', more: { retryAt: expiresAt, retryInMs: 7_000 }, expected: 7_000 },
    { title: 'that the minute is done', more: {}, expected: null },
  ])('is answered with the codes of a minute and $title', async ({ more, expected }) => {
    const asked: unknown[] = [];
    const { maintenance } = await serving({
      expireAuthorizationCodes: async (request) => {
        asked.push(request);
        return { issued: 3, redeemed: 2, expired: 1, ...more };
      },
    });
    expect(await maintenance.expireAuthorizationCodes({ minute }, call)).toEqual({
      issued: 3,
      redeemed: 2,
      expired: 1,
      retryInMs: expected,
    });
    expect(asked).toEqual([{ minute }]);
  });

  test.each([
    { title: 'and when the next is due', nextDueAt: expiresAt, expected: '2026-07-01T10:11:00.000Z' },
    { title: 'although no next time is known', nextDueAt: undefined, expected: null },
  ])('is answered with the steps of the key rotation $title', async ({ nextDueAt, expected }) => {
    const { maintenance } = await serving({
      advanceSigningKeys: async () => ({
        changes: [
          { kid: 'a', step: SigningKeyStep.SUPERSEDED },
          { kid: 'b', step: SigningKeyStep.ACTIVATED },
        ],
        nextDueAt,
      }),
    });
    expect(await maintenance.advanceSigningKeys(call)).toEqual({
      changes: [
        { kid: 'a', step: 'superseded' },
        { kid: 'b', step: 'activated' },
      ],
      nextDueAt: expected,
    });
  });

  test('is answered with the minutes to watch, and notes those that are watched', async () => {
    const marked: unknown[] = [];
    const { codeMinutes } = await serving({
      listCodeMinutesToWatch: async ({ limit }) => ({
        minutes: Array(limit).fill({ minute, expiresAt, expiresInMs: 7_000 }),
      }),
      markCodeMinutesWatched: async ({ minutes }) => {
        marked.push(minutes);
        return {};
      },
    });
    expect(await codeMinutes.toWatch(2, call)).toEqual([
      { minute, expiresAt, expiresInMs: 7_000 },
      { minute, expiresAt, expiresInMs: 7_000 },
    ]);
    await codeMinutes.markWatched([minute], call);
    expect(marked).toEqual([[minute]]);
  });

  test('carries the request id of the activity into the log of the domain', async () => {
    const { maintenance, lines } = await serving({
      purgeExpired: async () => ({ counts: [], more: false, otherRunActive: false }),
    });
    await maintenance.purgeExpired({ limit: 1, run: 'r1' }, call);
    expect(lines.map(({ requestId }) => requestId)).toEqual([call.requestId]);
  });

  test('is over at both ends when the activity is cancelled', async () => {
    const { told: context, tell: begun } = signalled<CallContext>();
    const { maintenance } = await serving({
      purgeExpired: (_, handlerContext) => {
        begun(handlerContext);
        return new Promise(() => undefined);
      },
    });
    fakeTimeouts();
    const cancel = new AbortController();
    const outcome = maintenance
      .purgeExpired({ limit: 1, run: 'r1' }, { ...call, signal: cancel.signal })
      .catch((error) => error);
    const { signal } = await context;
    const aborted = once(signal, 'abort');
    cancel.abort(new Error('the worker must go'));
    expect(await outcome).toEqual(new Error('the worker must go'));
    await aborted;
  });
});
