import type { Config } from '../../../config/config.js';
import { asFacts } from '../output/table.js';
import type { Report, RestoreOptions } from './restore-actions.js';
import { asText, replayCommand } from './resume-actions.js';

const UNKNOWN_TO_LISTS =
  'The list does not cover the following, which are as in the backup even if they were changed since: roles and their permissions, other settings of applications (such as PKCE), URLs and filters of subscriptions.';

const BACK_WITHOUT_LIST =
  'people who have left, disabled accounts, changed passwords, memberships, disabled applications, redirect URIs, and instance integrations whose configuration was removed';

const RESUME = 'Use `integration resume` to resume those that you know were not revoked.';

const DAY_MS = 86_400_000;
/** Of subscriptions for which an earlier restore held deliveries. */
const MOST_NAMED = 20;

const BACK_WITH_SESSIONS =
  'WARNING: --keep-sessions brings back what ended after the backup: sessions of people who signed out, refresh tokens that were rotated, links that were used, and grants of consents that were withdrawn.';

/** A list names the signing keys that are valid. */
const BACK_WITH_SIGNING_KEYS =
  ' Without a list, it also brings back signing keys that were withdrawn: if one was compromised, run `integration signing-key rotate --compromised` as soon as the service runs.';

/** Lists what was restored, what was ended, and the next steps of the operator. */
export function reportOf(report: Report, options: RestoreOptions, config: Config): string {
  const { revocations, ended, suspended, held } = report;
  const since = inWords(report.knownUntil);
  const place = config.DATABASE_URL === undefined ? config.DATA_DIR : 'the database of DATABASE_URL';
  return [
    `The backup of ${report.restored} is restored into ${place} and checked.`,
    revocations === null &&
      `WARNING: without a list, what was changed after ${since} is as in the backup: ${BACK_WITHOUT_LIST}.`,
    options.keepSessions && `${BACK_WITH_SESSIONS}${revocations === null ? BACK_WITH_SIGNING_KEYS : ''}`,
    asFacts([
      [
        'Sessions',
        options.keepSessions
          ? `kept, with all tokens${revocations === null ? '' : keptExcept(ended)}`
          : `${ended.sessions} sessions, ${ended.grants} grants, ${ended.codes} codes and ${ended.links} links ended, ${ended.signingKeys} signing keys withdrawn`,
      ],
      ['Consents', `${report.consents} deleted: people are asked again`],
      ['Notices', `${report.notices} wait for the platform, also those that it has mailed since`],
      ['Revocations', revocations === null ? 'unknown' : `as of ${revocations}: ${appliedOf(report)}`],
      [
        'Webhooks',
        options.sendWebhooks
          ? `sent as soon as the service runs; ${held.deliveries} deliveries of disabled subscriptions held`
          : `${held.deliveries} deliveries of ${held.subscriptions.length} subscriptions held`,
      ],
    ]),
    section('Ended permanently, because they are not on the list:', report.revoked),
    section('Expire earlier now, as on the list:', report.shortened),
    section(`Suspended, because they may have been revoked after ${since}:`, suspended, RESUME),
    section('Still suspended by an earlier restore:', report.suspendedEarlier, RESUME),
    revocations !== null &&
      `WARNING: what was revoked after ${since}, the newest change in the list, works again${suspended.length > 0 ? ', except what is suspended' : ''}.`,
    section(
      options.keepKeys
        ? `WARNING: these work as in the backup, even if they were revoked after ${since}:`
        : 'These work:',
      report.alive,
    ),
    revocations !== null && UNKNOWN_TO_LISTS,
    nextSteps(report, options, config),
  ]
    .filter(Boolean)
    .join('\n\n');
}

function keptExcept({ sessions, grants, codes, links }: Report['ended']): string {
  return `, except ${sessions} sessions, ${grants} grants, ${codes} codes and ${links} links of accounts that were disabled or lost their password`;
}

/** To the minute, never later than the time. */
function inWords(time: string): string {
  return `${time.slice(0, 'yyyy-mm-ddThh:mm'.length).replace('T', ' ')} UTC`;
}

function appliedOf({ revoked, shortened, disabled, memberships, narrowed, unconfigured, passwords }: Report) {
  return [
    `${revoked.length} keys, tokens and secrets ended, ${shortened.length} expire earlier`,
    `${disabled.accounts.length} accounts disabled, ${memberships.length} users and workers made inactive, ${passwords.length} passwords removed`,
    `${disabled.applications.length} applications disabled, ${narrowed.length} with fewer redirect or post-logout redirect URIs, scopes or grant types`,
    `${unconfigured.length} instance integrations not configured, ${disabled.subscriptions.length} subscriptions disabled`,
  ].join('; ');
}

function section(title: string, credentials: Parameters<typeof asText>[0], after?: string): string | false {
  return credentials.length > 0 && [title, asText(credentials), after].filter(Boolean).join('\n\n');
}

function nextSteps(
  { suspended, suspendedEarlier, held, heldEarlier }: Report,
  { sendWebhooks }: RestoreOptions,
  { EVENT_RETENTION }: Config,
): string {
  const heldMs = held.since === null ? 0 : Date.now() - held.since;
  const hasDisabledSubscriptions =
    held.subscriptions.length > 0 || suspendedEarlier.some(({ kind }) => kind === 'subscription');
  const steps = [
    // First, because the service deletes deliveries past their retention at its start. The margin is a day.
    held.since !== null &&
      heldMs + DAY_MS > EVENT_RETENTION &&
      `Keep what is held until it is sent: set EVENT_RETENTION to ${Math.ceil(heldMs / DAY_MS) + 1}d or more`,
    [...suspended, ...suspendedEarlier].some(({ kind }) => kind === 'service_token') &&
      'Resume your operator token:      integration resume tok_…',
    'Start the service:               systemctl start integration-service@serve (on several machines: @domain; without the unit: integration serve)',
    hasDisabledSubscriptions && 'Enable the subscriptions:        integration resume whs_…',
    // It knows the oldest event of each.
    hasDisabledSubscriptions &&
      'Send the events they missed:     the commands that `integration resume` prints',
    ...(sendWebhooks ? replaysOf(heldEarlier) : []),
  ].filter((step) => step !== false);
  return `What comes next\n\n${steps.map((step, index) => `  ${index + 1}. ${step}`).join('\n')}`;
}

/** None for subscriptions that the restore disabled: a replay to them is refused. */
function replaysOf(heldEarlier: Report['heldEarlier']) {
  const others = heldEarlier.slice(MOST_NAMED);
  const oldest = Math.min(...others.map(({ since }) => since));
  return [
    ...heldEarlier
      .slice(0, MOST_NAMED)
      .map(({ id, since }) => `Send the events that are held:   ${replayCommand(id, since)}`),
    others.length > 0 &&
      `Do the same for ${others.length} more, which \`integration delivery list --status held\` shows: ${replayCommand('whs_…', oldest)}`,
  ];
}
