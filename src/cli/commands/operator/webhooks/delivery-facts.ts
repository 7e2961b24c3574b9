import type {
  AttemptOutcome,
  Delivery,
  DeliveryAttempt,
  GetDeliveryResponse,
} from '../../../../../generated/proto/integration/webhooks/v1/deliveries.js';
import { jsonIn } from '../../json.js';
import { printable, printableLine } from '../../output/printable.js';
import { asColumns, asFacts, asTime, asWord } from '../../output/table.js';
import type { Shown } from '../session.js';

const MAX_ATTEMPTS = 3;
const SHOWN_OF_ANSWER = 1_000;
/** The domain makes the id at each first failure, and does not know whether a workflow was started. */
const WITHOUT_TEMPORAL = 'made only where a worker reaches Temporal, which retries do not need';

export function deliveryFacts(delivery: Delivery, temporalUiUrl?: string, requestId?: string): string {
  const { retryWorkflowId } = delivery;
  const inUi = retryWorkflowId && temporalUiUrl && `${temporalUiUrl}/${encodeURIComponent(retryWorkflowId)}`;
  return asFacts([
    ['Delivery', delivery.id],
    ['Event', `${delivery.eventId} ${delivery.eventType}`],
    ['Subscription', delivery.subscriptionId],
    ['Connection', delivery.instanceIntegrationId],
    ['Made because of', asWord(delivery.origin, 'DELIVERY_ORIGIN_')],
    ['Status', asWord(delivery.status, 'DELIVERY_STATUS_')],
    ['Attempts begun', attemptsOf(delivery)],
    ['Next attempt', asTime(delivery.nextAttemptAt)],
    ['Retry workflow', retryWorkflowId ? [retryWorkflowId, ...(inUi ? [inUi] : []), WITHOUT_TEMPORAL] : '-'],
    ...(requestId === undefined ? [] : [['Caused by request', requestId] as [string, string]]),
    ['Created', asTime(delivery.createdAt)],
    ['Ended', asTime(delivery.endedAt)],
  ]);
}

/** A delivery that will be attempted, and how to follow it. */
export function shownUnderWay(answer: { delivery?: Delivery | undefined }, what: string): Shown {
  const delivery = answer.delivery as Delivery;
  const next = `${what} How it goes: \`integration delivery show ${delivery.id}\`.`;
  return { json: answer, text: `${deliveryFacts(delivery)}\n\n${next}` };
}

/** A delivery as needed to find out what went wrong. */
export function deliveryReport(
  { delivery, attempts, body, requestId }: GetDeliveryResponse,
  temporalUiUrl?: string,
): string {
  return [
    deliveryFacts(delivery as Delivery, temporalUiUrl, requestId),
    attempts.length === 0 ? 'No attempt has ended yet.' : attemptTable(attempts),
    ...attempts.filter(({ responseStart }) => responseStart.length > 0).map(answerTo),
    `Body (${body.length} bytes)\n\n${indented(prettyBody(body))}`,
  ].join('\n\n');
}

/** Indented for reading; the bytes that are posted have no white space. */
export function prettyBody(body: Uint8Array): string {
  const text = Buffer.from(body).toString('utf8');
  const content = jsonIn(text);
  return printable(content === undefined ? text : JSON.stringify(content, null, 2));
}

export function attemptsOf({ attemptsBegun }: Delivery): string {
  return `${attemptsBegun} of ${MAX_ATTEMPTS}`;
}

export function outcomeWord(outcome: AttemptOutcome): string {
  const word = asWord(outcome, 'ATTEMPT_OUTCOME_');
  return word === 'unspecified' ? 'running' : word;
}

export function asMilliseconds(durationMs: number | undefined): string {
  return durationMs === undefined ? '-' : `${durationMs} ms`;
}

export function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

function attemptTable(attempts: readonly DeliveryAttempt[]): string {
  return asColumns(attempts, {
    attempt: ({ number }) => String(number),
    began: ({ startedAt }) => asTime(startedAt),
    took: ({ durationMs }) => asMilliseconds(durationMs),
    outcome: ({ outcome }) => outcomeWord(outcome),
    status: ({ httpStatus }) => (httpStatus === undefined ? '-' : String(httpStatus)),
    'what happened': ({ message }) => printableLine(message) || '-',
  });
}

/** The subscriber wrote it, so it may be anything. */
function answerTo({ number, responseStart }: DeliveryAttempt): string {
  const text = responseStart.toString('utf8');
  const shown = printable(text.slice(0, SHOWN_OF_ANSWER));
  const rest = text.length > SHOWN_OF_ANSWER ? '\n  …' : '';
  return `Answer to attempt ${number} (its first ${responseStart.length} bytes)\n\n${indented(shown.trimEnd())}${rest}`;
}
