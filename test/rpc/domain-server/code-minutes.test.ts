import { describe, expect, test } from '@jest/globals';
import { MaintenanceServiceService } from '../../../generated/proto/integration/maintenance/v1/maintenance.js';
import type { CodeMinutes } from '../../../src/domain/sign-on/authorization/codes.js';
import { ErrorCode } from '../../../src/errors/service-error.js';
import {
  type MaintenanceDependencies,
  maintenanceService,
} from '../../../src/rpc/domain-server/maintenance.js';
import { refusalOf, rpcRigs } from '../rig.js';

const minute = new Date('2026-07-01T10:00:00Z');
const expiresAt = new Date('2026-07-01T10:11:00Z');
const now = Date.UTC(2026, 6, 1, 10, 10);
const call = { requestId: 'r', deadlineMs: 20_000 };

describe('the minutes in which codes were issued', () => {
  const rigs = rpcRigs();

  async function serving(retryAt: number | null = null, present = now) {
    const asked: unknown[] = [];
    const codeMinutes: CodeMinutes = {
      toWatch: async (limit) => {
        asked.push(limit);
        return [{ minute: minute.getTime(), expiresAt: expiresAt.getTime() }];
      },
      markWatched: async (...given) => {
        asked.push(given);
      },
      expire: async (...given) => {
        asked.push(given);
        return { issued: 12, redeemed: 9, expired: 3, retryAt };
      },
    };
    const rest = {} as Pick<MaintenanceDependencies, 'purge' | 'removalTime' | 'retention' | 'signingKeys'>;
    const signOn: MaintenanceDependencies['signOn'] = {
      rows: { codeMinutes },
      run: (work) => work({ codeMinutes }),
      inOrder: true,
    };
    const rig = await rigs.start([maintenanceService({ ...rest, signOn, clock: () => present })]);
    return { asked, client: rig.channel().clientOf(MaintenanceServiceService) };
  }

  test('are listed with their beginnings and ends', async () => {
    const { client, asked } = await serving();
    expect(await client.listCodeMinutesToWatch({ limit: 1_000 }, call)).toEqual({
      minutes: [{ minute, expiresAt, expiresInMs: 60_000 }],
    });
    expect(asked).toEqual([1_000]);
  });

  test('are marked as watched with the time of the domain, and no minutes are no work', async () => {
    const { client, asked } = await serving();
    await client.markCodeMinutesWatched({ minutes: [minute] }, call);
    await client.markCodeMinutesWatched({ minutes: [] }, call);
    expect(asked).toEqual([[[minute.getTime()], now]]);
  });

  test.each([
    {
      title: 'when the rest is over',
      retryAt: now + 5_000,
      expected: { retryAt: new Date(now + 5_000), retryInMs: 5_000 },
    },
    { title: 'nothing where none is valid', retryAt: null, expected: {} },
  ])('are expired by the time of the domain, which tells $title', async ({ retryAt, expected }) => {
    const { client, asked } = await serving(retryAt);
    const answer = await client.expireAuthorizationCodes({ minute }, call);
    expect(answer).toEqual({ issued: 12, redeemed: 9, expired: 3, ...expected });
    expect(asked).toEqual([[minute.getTime(), now]]);
  });

  test('are told of also where the clock was set back by years', async () => {
    const { client } = await serving(now + 2 ** 33, now - 2 ** 33);
    expect(await client.listCodeMinutesToWatch({ limit: 1 }, call)).toMatchObject({
      minutes: [{ minute, expiresInMs: 2 ** 32 - 1 }],
    });
    expect(await client.expireAuthorizationCodes({ minute }, call)).toMatchObject({ retryInMs: 2 ** 32 - 1 });
  });

  const inBetween = new Date(minute.getTime() + 1);
  type Client = Awaited<ReturnType<typeof serving>>['client'];
  test.each<[title: string, path: string, ask: (client: Client) => Promise<unknown>]>([
    ['a list of none', 'limit', (client) => client.listCodeMinutesToWatch({ limit: 0 }, call)],
    ['a list too long', 'limit', (client) => client.listCodeMinutesToWatch({ limit: 1_001 }, call)],
    ['no minute', 'minute', (client) => client.expireAuthorizationCodes({ minute: undefined }, call)],
    [
      'a time within a minute',
      'minute',
      (client) => client.expireAuthorizationCodes({ minute: inBetween }, call),
    ],
    [
      'a mark on a time within a minute',
      'minutes[1]',
      (client) => client.markCodeMinutesWatched({ minutes: [minute, inBetween] }, call),
    ],
    [
      'too many marks at once',
      'minutes',
      (client) => client.markCodeMinutesWatched({ minutes: Array(1_001).fill(minute) }, call),
    ],
  ])('refuse %s, naming the field, and touch nothing', async (_, path, ask) => {
    const { client, asked } = await serving();
    const refusal = await refusalOf(ask(client));
    expect(refusal.code).toBe(ErrorCode.INVALID_REQUEST);
    expect(refusal.fieldViolations.map((violation) => violation.path)).toEqual([path]);
    expect(asked).toEqual([]);
  });
});
