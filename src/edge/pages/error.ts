import { operations } from '../../../generated/openapi/sign-on-operations.js';
import { html } from './html.js';
import { icons } from './icons.js';
import type { PageContent } from './layout.js';

export const WAIT_FIRST = 'Please wait before you try again';

/** All of it text. */
export interface ErrorPageContent {
  /** Instead of "Something went wrong", where nothing did. */
  heading?: string | undefined;
  message: string;
  hint?: string | undefined;
  developerMessage?: string | undefined;
  /** A path of this server. */
  continueUrl?: string | undefined;
  continueLabel?: string | undefined;
  requestId: string;
}

/** States the error and how to continue; the details are for support. */
export function errorPage(content: ErrorPageContent): PageContent {
  const { heading, message, hint, developerMessage, continueUrl, requestId } = content;
  const { continueLabel = continueUrl === operations.logout.path ? 'Sign out' : 'Start again' } = content;
  const title = heading ?? 'Something went wrong';
  const body = html`${heading === undefined ? html`<div class="badge bad">${icons.warning}</div>` : html`<div class="badge">${icons.clock}</div>`}
<h1>${title}</h1>
<p class="lead">${message}</p>
${hint !== undefined && html`<p class="lead">${hint}</p>`}
${continueUrl !== undefined && html`<div class="actions"><a class="button" id="continue" href="${continueUrl}">${continueLabel}</a></div>`}
<dl class="facts">
${developerMessage !== undefined && html`<dt>For developers</dt><dd>${developerMessage}</dd>`}
<dt>Request</dt><dd>${requestId}</dd>
</dl>`;
  return { title, body };
}

interface LockOut {
  /** What was too much, in a sentence of the domain. */
  message: string;
  waitSeconds: number;
  now: number;
  /** A path of this server, for the time after. */
  backUrl: string;
  requestId: string;
}

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;

/** Says when attempts are taken again. The same for all addresses, so that it tells nothing of accounts. */
export function lockedOutPage({ message, waitSeconds, now, backUrl, requestId }: LockOut): PageContent {
  const endsAt = new Date(now + waitSeconds * 1_000);
  const body = html`<div class="badge">${icons.clock}</div>
<h1>${WAIT_FIRST}</h1>
<p class="lead">${message} You can try again in <strong>${inWords(waitSeconds)}</strong>, from <time datetime="${endsAt.toISOString()}">${timeOfDay(endsAt, { toTheSecond: waitSeconds <= MINUTE_S, now })}</time>.</p>
<p class="lead">Until then an attempt is refused even with the right password. This protects the account from being guessed or overrun.</p>
<div class="actions"><a class="button" id="continue" href="${backUrl}">Back</a></div>
<p class="note">Not sure of your password? Ask the administrator who gave you access to send you a link. With it you set a new one.</p>
<dl class="facts"><dt>Request</dt><dd>${requestId}</dd></dl>`;
  return { title: WAIT_FIRST, body };
}

/** Rounded up: an attempt that comes too early is refused. */
export function inWords(seconds: number): string {
  if (seconds <= MINUTE_S) {
    return counted(seconds, 'second');
  }
  return seconds <= 2 * HOUR_S
    ? `about ${counted(Math.ceil(seconds / MINUTE_S), 'minute')}`
    : `about ${counted(Math.ceil(seconds / HOUR_S), 'hour')}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `14:05 UTC`, rounded up as well, or `14:04:31 UTC`, with the date if it is not today's. */
function timeOfDay(at: Date, { toTheSecond, now }: { toTheSecond: boolean; now: number }): string {
  const step = 1_000 * (toTheSecond ? 1 : MINUTE_S);
  const rounded = new Date(Math.ceil(at.getTime() / step) * step).toISOString();
  const [date, time = ''] = rounded.split('T');
  const today = new Date(now).toISOString().split('T')[0];
  return `${date === today ? '' : `${date} `}${time.slice(0, toTheSecond ? 8 : 5)} UTC`;
}
