import { describe, expect, test } from '@jest/globals';
import type { GivenAnswer } from '../../support/webhooks/subscribers.js';
import type { ToldAttempt, ToldDelivery, WebhookRecord } from './judge.js';
import { accountInWords, accountOf, type Kill, repeatsOf } from './repeats.js';

const SUBSCRIPTION = 'whs_1';
const KILLS: Kill[] = [
  { target: 'worker', during: 'first attempt', at: 20_000, inFlight: 2 },
  { target: 'domain', during: 'write', at: 40_000, inFlight: 1 },
];

type Told = [outcome: string, startedAt: number, httpStatus?: number];

function story(eventId: string, answers: readonly GivenAnswer[], ...told: readonly Told[]) {
  const pair = { subscriptionId: SUBSCRIPTION, eventId };
  const attempts: ToldAttempt[] = told.map(([outcome, startedAt, httpStatus = 204], index) => ({
    ...{ number: index + 1, outcome, startedAt },
    ...((outcome === 'SUCCEEDED' || outcome === 'STATUS_REFUSED') && { httpStatus }),
  }));
  const delivery: ToldDelivery = { ...pair, status: 'DELIVERED', attemptsBegun: told.length, attempts };
  const records: WebhookRecord[] = answers.map((answer) => ({ ...pair, answer, isGenuine: true }));
  return { delivery, records };
}

function accountOfStories(...stories: ReturnType<typeof story>[]) {
  const deliveries = stories.map(({ delivery }) => delivery);
  return accountOf(KILLS, repeatsOf({ deliveries, records: stories.flatMap(({ records }) => records) }));
}

const repeatsOfKills = ({ accounts }: ReturnType<typeof accountOf>) => accounts.map(({ repeats }) => repeats);

describe('sent again is', () => {
  test('what was accepted and not recorded at a kill, once for each acceptance', () => {
    const account = accountOfStories(
      story('evt_1', [204, 204], ['INTERRUPTED', 19_000], ['SUCCEEDED', 32_000]),
      story(
        'evt_2',
        [204, 204, 204],
        ['INTERRUPTED', 19_800],
        ['INTERRUPTED', 39_998],
        ['SUCCEEDED', 54_000],
      ),
    );
    expect(repeatsOfKills(account)).toEqual([2, 1]);
    expect(account).toMatchObject({ late: 0, unexplained: [] });
  });

  test('also what turned out to have succeeded, when the next attempt had begun', () => {
    const account = accountOfStories(
      story('evt_1', [204, 204], ['SUCCEEDED', 38_000], ['SUCCEEDED', 52_000]),
    );
    expect(repeatsOfKills(account)).toEqual([0, 1]);
  });

  test('nothing where the receiver refused, hung up or never saw it', () => {
    const account = accountOfStories(
      story('evt_1', [500, 204], ['STATUS_REFUSED', 18_000, 500], ['SUCCEEDED', 20_000]),
      story('evt_2', [204], ['INTERRUPTED', 18_000], ['SUCCEEDED', 32_000]),
      story('evt_3', ['hung up', 204], ['CONNECTION_FAILED', 18_000], ['SUCCEEDED', 20_000]),
    );
    expect(repeatsOfKills(account)).toEqual([0, 0]);
    expect(account).toMatchObject({ late: 0, unexplained: [] });
  });

  test('apart from it what was accepted too late for a sender that lived', () => {
    const account = accountOfStories(
      story('evt_1', [204, 204], ['TIMED_OUT', 19_000], ['SUCCEEDED', 22_000]),
      story('evt_2', [204, 204], ['INTERRUPTED', 20_001], ['TIMED_OUT', 31_000], ['SUCCEEDED', 37_000]),
    );
    expect(repeatsOfKills(account)).toEqual([0, 0]);
    expect(account).toMatchObject({ late: 2, unexplained: [] });
  });
});

describe('there is no reason for', () => {
  test.each<[string, ...Told[]]>([
    ['what was begun after the last kill', ['INTERRUPTED', 40_002], ['SUCCEEDED', 56_000]],
    ['what was over long before a kill', ['INTERRUPTED', -6_000], ['SUCCEEDED', 19_000]],
    ['more requests than attempts', ['SUCCEEDED', 19_000]],
  ])('%s', (_, ...told) => {
    const account = accountOfStories(story('evt_1', [204, 204], ...told));
    expect(account.unexplained).toMatchObject([{ key: `${SUBSCRIPTION} evt_1` }]);
    expect(repeatsOfKills(account)).toEqual([0, 0]);
  });
});

test('the account tells both figures of each kill and of all', () => {
  const account = accountOfStories(
    story('evt_1', [204, 204], ['INTERRUPTED', 19_000], ['SUCCEEDED', 32_000]),
  );
  const words = accountInWords(account);
  expect(words).toMatch(/kill {2}1 {2}worker during a first attempt {2,}2 in flight {2,}1 sent again/);
  expect(words).toMatch(/in all {2,}3 in flight {2,}1 sent again/);
});
