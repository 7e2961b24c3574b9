import type { Config } from '../../../config/config.js';
import type { Credential } from '../../../store/copies/credentials.js';
import { asFacts } from '../output/table.js';
import type { Report, RestoreOptions } from './restore-actions.js';
import { asText, replayCommand } from './resume-actions.js';

const UNKNOWN_TO_LISTS =
  'The list does not cover the following, which are as in the backup even if they were changed since: roles and their permissions, other settings of applications (such as PKCE), URLs and filters of subscriptions.';

const BACK_WITHOUT_LIST =
  'people who have left, disabled accounts, changed passwords, memberships, disabled applications, redirect URIs, and instance integrations whose configuration was removed';

/** Lists what was restored, what was ended, and the next steps of the operator. */
export function reportOf(report: Report, options: RestoreOptions, config: Config): string {
  const { restored, revocations, ended, consents, revoked, shortened, suspended, alive, held } = report;
  const place = config.DATABASE_URL === undefined ? config.DATA_DIR : 'the database of DATABASE_URL';
  return [
    `The backup of ${restored} is restored into ${place} and checked.`,
    ...(revocations === null
      ? [
          `WARNING: without a list, what was changed after ${inWords(restored)} is as in the backup: ${BACK_WITHOUT_LIST}.`,
        ]
      : []),
    asFacts([
      [
        'Sessions',
        options.keepSessions
          ? 'kept, with all tokens'
          : `${ended.sessions} sessions, ${ended.grants} grants, ${ended.codes} codes and ${ended.links} links ended, ${ended.signingKeys} signing keys withdrawn`,
      ],
      ['Consents', `${consents} deleted: people are asked again`],
      ['Revocations', revocations === null ? 'unknown' : `as of ${revocations}: ${appliedOf(report)}`],
      [
        'Webhooks',
        options.sendWebhooks
          ? `sent as soon as the service runs; ${held.deliveries} deliveries of disabled subscriptions held`
          : `${held.deliveries} deliveries of ${held.subscriptions.length} subscriptions held`,
      ],
    ]),
    ...section('Ended permanently, because they are not on the list:', revoked),
    ...section('Expire earlier now, as on the list:', shortened),
    ...section(
      `Suspended, because they may have been revoked since ${restored}:`,
      suspended,
      'Use `integration resume` to resume those that you know were not revoked.',
    ),
    ...(revocations === null
      ? []
      : [`WARNING: what was revoked after ${inWords(revocations)}, the time of the list, works again.`]),
    ...section(
      options.keepKeys
        ? `WARNING: these work as in the backup, even if they were revoked after ${restored}:`
        : 'These work:',
      alive,
    ),
    ...(revocations === null ? [] : [UNKNOWN_TO_LISTS]),
    nextSteps(report),
  ].join('\n\n');
}

/** To the minute, never later than the time. */
function inWords(time: string): string {
  return `${time.slice(0, 'yyyy-mm-ddThh:mm'.length).replace('T', ' ')} UTC`;
}

function appliedOf({ revoked, shortened, disabled, memberships, narrowed, unconfigured, passwords }: Report) {
  return [
    `${revoked.length} keys, tokens and secrets ended, ${shortened.length} expire earlier`,
    `${disabled.accounts.length} accounts disabled, ${memberships.length} users and workers made inactive, ${passwords} passwords removed`,
    `${disabled.applications.length} applications disabled, ${narrowed.length} with fewer redirect URIs, scopes or grant types`,
    `${unconfigured.length} instance integrations not configured, ${disabled.subscriptions.length} subscriptions disabled`,
  ].join('; ');
}

function section(title: string, credentials: readonly Credential[], after?: string): string[] {
  return credentials.length === 0
    ? []
    : [`${title}\n\n${asText(credentials)}${after === undefined ? '' : `\n\n${after}`}`];
}

function nextSteps({ suspended, held, restored }: Report): string {
  const steps = [
    ...(suspended.some(({ kind }) => kind === 'service_token')
      ? ['Resume your operator token:      integration resume tok_…']
      : []),
    'Start the service:               integration serve',
    ...(held.subscriptions.length > 0
      ? [
          'Enable the subscriptions:        integration resume whs_…',
          `Send the events they missed:     ${replayCommand('whs_…', held.since ?? Date.parse(restored))}`,
        ]
      : []),
  ];
  return `What comes next\n\n${steps.map((step, index) => `  ${index + 1}. ${step}`).join('\n')}`;
}
