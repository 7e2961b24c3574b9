import { describe, expect, test } from '@jest/globals';
import type { GivenAnswer } from '../../support/webhooks/subscribers.js';
import { type Evidence, faultsOf, type ToldAttempt, type ToldDelivery, type WebhookRecord } from './judge.js';

const pair = { subscriptionId: 'whs_1', eventId: 'evt_1' };

const succeeded = { outcome: 'SUCCEEDED', httpStatus: 204 };
const refused = { outcome: 'STATUS_REFUSED', httpStatus: 500 };
const cut = { outcome: 'CONNECTION_FAILED' };
const late = { outcome: 'TIMED_OUT' };
const lost = { outcome: 'INTERRUPTED' };

function delivery(
  status: string,
  attempts: readonly Omit<ToldAttempt, 'number'>[],
  attemptsBegun = attempts.length,
): ToldDelivery {
  const numbered = attempts.map((attempt, index) => ({ ...attempt, number: index + 1 }));
  return { ...pair, status, attemptsBegun, attempts: numbered };
}

function requests(...answers: GivenAnswer[]): WebhookRecord[] {
  return answers.map((answer) => ({ ...pair, answer, isGenuine: true }));
}

function evidence(changes: Partial<Evidence>, isDisabled = false): Evidence {
  return {
    events: [{ id: 'evt_1', clientId: 'cli_1' }],
    subscriptions: [{ id: 'whs_1', matches: () => true, isDisabled }],
    deliveries: [],
    records: [],
    ...changes,
  };
}

function judged(told: ToldDelivery, seen: readonly WebhookRecord[], isDisabled = false): string[] {
  return faultsOf(evidence({ deliveries: [told], records: seen }, isDisabled));
}

describe('nothing is wrong with', () => {
  test.each([
    ['an event that was accepted at once', delivery('DELIVERED', [succeeded]), [204]],
    ['one that failed twice', delivery('DELIVERED', [refused, cut, succeeded]), [500, 'hung up', 204]],
    ['one that failed three times', delivery('EXHAUSTED', [refused, refused, refused]), [500, 500, 500]],
    ['an answer that was lost with its sender', delivery('DELIVERED', [lost, succeeded]), [204, 204]],
    ['a request that never left', delivery('DELIVERED', [lost, succeeded]), [204]],
    ['an answer that came too late', delivery('DELIVERED', [late, succeeded]), ['too late', 204]],
    [
      'a request that the receiver reads after the next one',
      delivery('DELIVERED', [late, refused, succeeded]),
      [500, 204, 204],
    ],
    ['three accepted requests with lost answers', delivery('EXHAUSTED', [lost, lost, lost]), [204, 204, 204]],
  ] as [string, ToldDelivery, GivenAnswer[]][])('%s', (_, told, answers) => {
    expect(judged(told, requests(...answers))).toEqual([]);
  });

  test('an accepted request whose answer a broken network lost', () => {
    const told = delivery('DELIVERED', [cut, succeeded]);
    const found = { deliveries: [told], records: requests(204, 204) };
    const behind = { id: 'whs_1', matches: () => true, isDisabled: false, losesAnswers: true };
    expect(faultsOf(evidence({ ...found, subscriptions: [behind] }))).toEqual([]);
    expect(faultsOf(evidence(found)).join()).toContain('the receiver saw');
  });

  test('a success that was reported when the next attempt had begun', () => {
    const attempts = [
      { ...succeeded, startedAt: 1_000 },
      { ...lost, startedAt: 12_000 },
    ];
    const told = { ...delivery('DELIVERED', attempts), endedAt: 12_000 };
    expect(judged(told, requests(204, 204))).toEqual([]);
  });

  test('what is held for a subscription that was disabled', () => {
    expect(judged(delivery('HELD', []), [], true)).toEqual([]);
    expect(judged(delivery('HELD', [{ ...refused, httpStatus: 410 }]), requests(410), true)).toEqual([]);
  });

  test('an event without subscribers', () => {
    const subscriptions = [{ id: 'whs_1', matches: () => false, isDisabled: false }];
    expect(faultsOf(evidence({ subscriptions }))).toEqual([]);
  });
});

describe('found is', () => {
  test.each([
    [
      'a fourth request',
      delivery('DELIVERED', [refused, lost, succeeded]),
      [500, 204, 204, 204],
      'seen 4 times',
    ],
    ['a fourth attempt', delivery('EXHAUSTED', [lost, lost, lost, lost]), [], '4 attempts'],
    ['a success that is none', delivery('DELIVERED', [refused]), [500], 'never accepted'],
    ['a success that only the service knows', delivery('DELIVERED', [succeeded]), [], 'never accepted'],
    [
      'an end before the third attempt',
      delivery('EXHAUSTED', [refused, refused]),
      [500, 500],
      'after 2 attempts',
    ],
    ['an end in spite of a success', delivery('EXHAUSTED', [lost, lost, succeeded]), [204], 'of which one'],
    ['no end', delivery('PENDING', [refused]), [500], 'never came to its end: PENDING'],
    ['something cancelled', delivery('CANCELLED', []), [], 'never came to its end: CANCELLED'],
    ['something held for one who receives', delivery('HELD', []), [], 'held without a reason'],
    [
      'an attempt that is not told of',
      delivery('DELIVERED', [succeeded], 2),
      [204],
      'attempts 1 are told of',
    ],
    [
      'a request that no attempt explains',
      delivery('DELIVERED', [succeeded]),
      [204, 204],
      'the receiver saw',
    ],
    [
      'a second request after a success',
      delivery('DELIVERED', [succeeded, lost]),
      [204, 204, 204],
      'the receiver saw',
    ],
    [
      'another status than was answered',
      delivery('DELIVERED', [refused, succeeded]),
      [503, 204],
      'the receiver saw',
    ],
    [
      'another order than was answered',
      delivery('DELIVERED', [refused, succeeded]),
      [204, 500],
      'the receiver saw',
    ],
    [
      'a refusal that the receiver never gave',
      delivery('DELIVERED', [refused, succeeded]),
      [204],
      'the receiver saw',
    ],
  ] as [string, ToldDelivery, GivenAnswer[], string][])('%s', (_, told, answers, words) => {
    expect(judged(told, requests(...answers)).join('; ')).toContain(words);
  });

  test.each([succeeded, lost])('an attempt that began after the success was recorded (%o)', (later) => {
    const attempts = [
      { ...succeeded, startedAt: 1_000 },
      { ...later, startedAt: 1_002 },
    ];
    const told = { ...delivery('DELIVERED', attempts), endedAt: 1_001 };
    expect(judged(told, requests(204, 204)).join()).toContain('sent again after it was delivered');
  });

  test('a missing delivery', () => {
    expect(faultsOf(evidence({}))).toEqual(['whs_1 evt_1: missing: there is no delivery']);
  });

  test('a second delivery of one event', () => {
    const deliveries = [delivery('DELIVERED', [succeeded]), delivery('DELIVERED', [])];
    expect(faultsOf(evidence({ deliveries, records: requests(204) }))).toEqual(['whs_1 evt_1: 2 deliveries']);
  });

  test('a request that is not genuine', () => {
    const records = requests(204).map((request) => ({ ...request, isGenuine: false }));
    const deliveries = [delivery('DELIVERED', [succeeded])];
    expect(faultsOf(evidence({ deliveries, records }))).toEqual([
      'whs_1 evt_1: a request that is not genuine',
    ]);
  });

  test('what is sent to who did not subscribe to it, or was never recorded', () => {
    const subscriptions = [{ id: 'whs_1', matches: () => false, isDisabled: false }];
    const strange = { ...pair, eventId: 'evt_2' };
    const records = [...requests(204), { ...strange, answer: 204, isGenuine: true }];
    const deliveries = [{ ...delivery('DELIVERED', [succeeded]), ...strange }];
    expect(faultsOf(evidence({ subscriptions, records, deliveries }))).toEqual([
      'whs_1 evt_1: sent to who did not subscribe to it',
      'whs_1 evt_2: a delivery of nothing that happened',
      'whs_1 evt_2: a request with nothing that happened',
    ]);
  });

  test('what is held although it was accepted', () => {
    expect(judged(delivery('HELD', [succeeded]), requests(204), true)).toEqual([
      'whs_1 evt_1: held without a reason',
    ]);
  });
});
