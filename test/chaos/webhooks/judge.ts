import type { GivenAnswer } from '../../support/webhooks/subscribers.js';

/** One request, as a receiver wrote it down. */
export interface WebhookRecord {
  subscriptionId: string;
  eventId: string;
  isGenuine: boolean;
  answer: GivenAnswer;
}

/** One attempt, as the service reports it. */
export interface ToldAttempt {
  number: number;
  outcome: string;
  httpStatus?: number | undefined;
  /** In milliseconds; where it is not read, it makes no difference. */
  startedAt?: number | undefined;
}

/** One delivery, as the service reports it. */
export interface ToldDelivery {
  subscriptionId: string;
  eventId: string;
  status: string;
  attemptsBegun: number;
  attempts: readonly ToldAttempt[];
  /** When its end was recorded, in milliseconds. */
  endedAt?: number | undefined;
}

/** A subscription, what it shall get, and whether it was disabled in the end. */
export interface JudgedSubscription {
  id: string;
  matches: (event: { id: string; clientId: string }) => boolean;
  isDisabled: boolean;
  /** The network to the receiver breaks, so the sender may miss an answer that the receiver gave. */
  losesAnswers?: boolean;
}

export interface Evidence {
  events: readonly { id: string; clientId: string }[];
  subscriptions: readonly JudgedSubscription[];
  deliveries: readonly ToldDelivery[];
  records: readonly WebhookRecord[];
}

const MOST_ATTEMPTS = 3;
/** Outcomes of attempts that the receiver may not have seen, or whose answer the sender did not see. */
const MAYBE_UNSEEN = new Set(['INTERRUPTED', 'CONNECTION_FAILED', 'TIMED_OUT']);

/** All faults as sentences; empty if every event was completed for all its subscriptions. */
export function faultsOf({ events, subscriptions, deliveries, records }: Evidence): string[] {
  const faults: string[] = [];
  const told = grouped(deliveries);
  const seen = grouped(records);
  for (const subscription of subscriptions) {
    for (const event of events) {
      const key = keyOf({ subscriptionId: subscription.id, eventId: event.id });
      const found = { told: told.get(key) ?? [], seen: seen.get(key) ?? [] };
      told.delete(key);
      seen.delete(key);
      const judge = subscription.matches(event) ? faultsOfPair : faultsOfStranger;
      faults.push(...judge(found, subscription).map((fault) => `${key}: ${fault}`));
    }
  }
  faults.push(...[...told.keys()].map((key) => `${key}: a delivery of nothing that happened`));
  faults.push(...[...seen.keys()].map((key) => `${key}: a request with nothing that happened`));
  return faults;
}

interface Pair {
  told: readonly ToldDelivery[];
  seen: readonly WebhookRecord[];
}

function faultsOfStranger({ told, seen }: Pair): string[] {
  return told.length + seen.length > 0 ? ['sent to who did not subscribe to it'] : [];
}

function faultsOfPair({ told, seen }: Pair, { isDisabled, losesAnswers }: JudgedSubscription): string[] {
  const [delivery, ...more] = told;
  if (!delivery) {
    return ['missing: there is no delivery'];
  }
  return [
    ...(more.length > 0 ? [`${told.length} deliveries`] : []),
    ...(seen.length > MOST_ATTEMPTS ? [`seen ${seen.length} times`] : []),
    ...(seen.every(({ isGenuine }) => isGenuine) ? [] : ['a request that is not genuine']),
    ...faultsOfEnd(delivery, seen, isDisabled),
    ...faultsOfAttempts(delivery, seen, losesAnswers),
  ];
}

function faultsOfEnd(delivery: ToldDelivery, seen: Pair['seen'], isDisabled: boolean): string[] {
  const hasSucceeded = delivery.attempts.some(({ outcome }) => outcome === 'SUCCEEDED');
  switch (delivery.status) {
    case 'DELIVERED':
      return hasSucceeded && seen.some(({ answer }) => isSuccess(answer))
        ? []
        : ['delivered, and was never accepted'];
    case 'EXHAUSTED':
      return hasSucceeded || delivery.attemptsBegun !== MOST_ATTEMPTS
        ? [
            `exhausted after ${delivery.attemptsBegun} attempts, of which ${hasSucceeded ? 'one' : 'none'} succeeded`,
          ]
        : [];
    case 'HELD':
      return isDisabled && !hasSucceeded ? [] : ['held without a reason'];
    default:
      return [`never came to its end: ${delivery.status}`];
  }
}

function faultsOfAttempts(delivery: ToldDelivery, seen: Pair['seen'], losesAnswers?: boolean): string[] {
  const { attempts, attemptsBegun } = delivery;
  const numbers = attempts.map(({ number }) => number).join();
  const expected = Array.from({ length: attemptsBegun }, (_, index) => index + 1).join();
  return [
    ...(attemptsBegun > MOST_ATTEMPTS ? [`${attemptsBegun} attempts`] : []),
    ...(numbers === expected ? [] : [`attempts ${numbers || 'none'} are told of, of ${attemptsBegun} begun`]),
    ...(attemptsBehind(attempts, seen, losesAnswers) ? [] : [contradiction(attempts, seen)]),
    ...(isSentAgain(delivery) ? [`sent again after it was delivered: [${inWords(attempts)}]`] : []),
  ];
}

/** A success that is reported when its lease has lapsed may be recorded during a later attempt. */
function isSentAgain({ status, endedAt = Number.NaN, attempts }: ToldDelivery): boolean {
  return status === 'DELIVERED' && attempts.some(({ startedAt = Number.NaN }) => startedAt > endedAt);
}

/**
 * The attempt of each request, in the order of the requests, if each is one and the other attempts may have
 * gone unseen. What its sender gave up can still be in a socket, and is then written down after a later one.
 */
export function attemptsBehind(
  attempts: readonly ToldAttempt[],
  [request, ...later]: readonly WebhookRecord[],
  losesAnswers = false,
): ToldAttempt[] | undefined {
  const firstSeen = attempts.findIndex(({ outcome }) => !MAYBE_UNSEEN.has(outcome));
  if (!request) {
    return firstSeen < 0 ? [] : undefined;
  }
  const possible = attempts
    .filter(
      (attempt, index) => (firstSeen < 0 || index <= firstSeen) && isOne(attempt, request, losesAnswers),
    )
    .sort((a, b) => Number(isLate(b)) - Number(isLate(a)));
  for (const attempt of possible) {
    const rest = attemptsBehind(
      attempts.filter((other) => other !== attempt),
      later,
      losesAnswers,
    );
    if (rest) {
      return [attempt, ...rest];
    }
  }
  return undefined;
}

/** Where two attempts may be behind a request, it is the one that explains a repetition without a kill. */
function isLate({ outcome }: ToldAttempt): boolean {
  return outcome === 'TIMED_OUT';
}

function isOne(
  { outcome, httpStatus }: ToldAttempt,
  { answer }: WebhookRecord,
  losesAnswers: boolean,
): boolean {
  switch (outcome) {
    case 'SUCCEEDED':
      return isSuccess(answer) && answer === httpStatus;
    case 'STATUS_REFUSED':
      return !isSuccess(answer) && answer === httpStatus;
    case 'CONNECTION_FAILED':
      return losesAnswers || answer === 'hung up';
    case 'TIMED_OUT':
      // A machine that is busy enough lets also a good answer come too late.
      return true;
    default:
      return outcome === 'INTERRUPTED';
  }
}

export function isSuccess(answer: GivenAnswer): boolean {
  return typeof answer === 'number' && answer >= 200 && answer < 300;
}

function contradiction(attempts: readonly ToldAttempt[], seen: Pair['seen']): string {
  return `told [${inWords(attempts)}], but the receiver saw [${seen.map(({ answer }) => answer)}]`;
}

function inWords(attempts: readonly ToldAttempt[]): string {
  return attempts.map(({ outcome, httpStatus }) => `${outcome} ${httpStatus ?? ''}`.trim()).join();
}

function keyOf({ subscriptionId, eventId }: { subscriptionId: string; eventId: string }): string {
  return `${subscriptionId} ${eventId}`;
}

export function grouped<T extends { subscriptionId: string; eventId: string }>(
  items: readonly T[],
): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) {
      group.push(item);
    } else {
      groups.set(key, [item]);
    }
  }
  return groups;
}
