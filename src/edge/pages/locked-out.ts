import { html } from './html.js';
import { icons } from './icons.js';
import type { PageContent } from './layout.js';

export interface LockOut {
  waitSeconds: number;
  now: number;
  /** A path of this server, for the time after. */
  backUrl: string;
  requestId: string;
}

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;

/** Says when attempts are taken again. The same for all addresses, so that it tells nothing of accounts. */
export function lockedOutPage({ waitSeconds, now, backUrl, requestId }: LockOut): PageContent {
  const title = 'Please wait before you try again';
  const endsAt = new Date(now + waitSeconds * 1_000);
  const body = html`<div class="badge">${icons.clock}</div>
<h1>${title}</h1>
<p class="lead">There were too many attempts to sign in, with one address or from one network. You can try again in <strong>${inWords(waitSeconds)}</strong>, from <time datetime="${endsAt.toISOString()}">${timeOfDay(endsAt, waitSeconds <= MINUTE_S)}</time>.</p>
<p class="lead">Until then this browser can try no password, not even the right one. This keeps passwords from being guessed.</p>
<div class="actions"><a class="button" id="continue" href="${backUrl}">Back</a></div>
<p class="note">Not sure of your password? Ask the administrator who gave you access to send you a link. With it you set a new one, and need not wait in this browser.</p>
<dl class="facts"><dt>Request</dt><dd>${requestId}</dd></dl>`;
  return { title, body };
}

/** Rounded up: an attempt that comes too early is refused. */
function inWords(seconds: number): string {
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

/** `14:05 UTC`, rounded up as well, or `14:04:31 UTC`: the zone of the person is not known. */
function timeOfDay(at: Date, toTheSecond: boolean): string {
  const step = 1_000 * (toTheSecond ? 1 : MINUTE_S);
  const rounded = new Date(Math.ceil(at.getTime() / step) * step).toISOString();
  return `${rounded.slice('2026-07-01T'.length, toTheSecond ? -'.000Z'.length : -':00.000Z'.length)} UTC`;
}
