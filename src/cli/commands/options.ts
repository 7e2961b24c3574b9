import { type Command, InvalidArgumentError, Option } from 'commander';
import { payloadSchemaOf } from '../../../generated/asyncapi/schemas.js';
import { durationMs } from '../../config/parsers.js';
import { AUDIT_TYPE_MESSAGE, matchesAuditTypes } from '../../domain/operator/audit.js';
import { matchesAny } from '../../domain/webhooks/event-patterns.js';

/** For every command that calls the domain. A token in the environment shows in no list of processes. */
export function addTargetOptions(command: Command): Command {
  return command
    .addOption(new Option('--address <host:port>', 'where the domain listens').env('INTEGRATION_ADDRESS'))
    .addOption(
      new Option(
        '--token <token>',
        'token to call with; lists of processes show it, so rather keep it in the file that INTEGRATION_TOKEN_FILE names',
      ).env('INTEGRATION_TOKEN'),
    )
    .addOption(
      new Option(
        '--ca <file>',
        'file of the authority that signed the certificate of the server; for addresses beyond loopback',
      ).env('INTEGRATION_CA'),
    );
}

/** In lines of 80 columns: commander does not wrap them. */
export const TARGET_NOTE = `Unless they are given, address and token come from the demo environment
($DATA_DIR/demo.json). With a live token, the address comes from the settings.`;

const EVENT_TYPES = Object.keys(payloadSchemaOf);

/** The largest number of a field of seconds. */
const MOST_SECONDS = 2 ** 32 - 1;

/** Refuses a value that an option does not take. */
export function assertIs(isSo: boolean, refusal: string): asserts isSo {
  if (!isSo) {
    throw new InvalidArgumentError(refusal);
  }
}

/** `30s`, `24h`, `90d`, as whole seconds. */
export function seconds(text: string): number {
  refuseWithoutUnit(text);
  const found = secondsIn(text);
  const refusal = 'It must be a duration in whole seconds, such as 30s, 24h or 90d, and at most 49710d.';
  assertIs(!Number.isNaN(found), refusal);
  return found;
}

function refuseWithoutUnit(text: string): void {
  assertIs(!/^\d+$/.test(text) || text === '0', 'A duration must have a unit, as in 30s, 5m, 24h or 90d.');
}

/** NaN for a text that is no duration, or too long a one. */
function secondsIn(text: string): number {
  const found = /^(?:0|\d{1,9}[smhd])$/.test(text) ? durationMs(text) / 1_000 : Number.NaN;
  return found <= MOST_SECONDS ? found : Number.NaN;
}

/** An ISO 8601 time, in UTC unless it names a zone, or a duration from now: `90d`. */
export function timeAhead(text: string): Date {
  return timeOrDistance(text, 1);
}

/** The same for the past: `7d` is seven days ago. */
export function timeBack(text: string): Date {
  return timeOrDistance(text, -1);
}

export function count(text: string): number {
  const number = Number(text);
  assertIs(/^\d{1,9}$/.test(text) && number > 0, 'It must be a whole number from 1.');
  return number;
}

/** For an option that may be repeated. */
export function collected(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

/** Values with commas between; may be repeated too. */
export function commaSeparated(value: string, previous: readonly string[] = []): readonly string[] {
  const items = value.split(',').map((item) => item.trim());
  assertIs(!items.includes(''), 'It must be values with commas between them.');
  return [...previous, ...items];
}

/** Values of a list, with commas between; may be repeated too. */
export function commaSeparatedOf(known: readonly string[]): typeof commaSeparated {
  return (value, previous) => {
    const names = commaSeparated(value, previous);
    const areKnown = names.every((name) => known.includes(name));
    assertIs(areKnown, `It must be of ${known.join(', ')}, with commas between.`);
    return names;
  };
}

/** `user.updated,worker.*`: types of the contract, all of a kind, or `*`; may be repeated too. */
export function eventPatterns(value: string, previous?: readonly string[]): readonly string[] {
  const patterns = commaSeparated(value, previous);
  assertIs(
    patterns.every((pattern) => EVENT_TYPES.some((type) => matchesAny([pattern], type))),
    `It must be of ${EVENT_TYPES.join(', ')}, all of a kind such as user.*, or *, with commas between.`,
  );
  return patterns;
}

/** An id of this kind, for lists: of an id of another kind the service finds nothing. */
export function idOf(prefix: string): (value: string) => string {
  return (value) => {
    assertIs(value.startsWith(`${prefix}_`), `It must be an id such as ${prefix}_….`);
    return value;
  };
}

/** The form of all ids: `cli_` and 22 letters or digits. */
const WHOLE_ID = /^[a-z]{3}_[0-9A-Za-z]{22}$/;

/** A whole id of this kind, for lists that may outlive what the id names. */
export function wholeIdOf(prefix: string): (value: string) => string {
  return (value) => {
    idOf(prefix)(value);
    assertIs(WHOLE_ID.test(value), `It must be a whole id: ${prefix}_ and 22 letters or digits.`);
    return value;
  };
}

/** Parties of the audit log without an id: such as roles, commands and methods. */
const PARTY_NAME = /^(?![a-z]{3}_.)[\w./-]+$/;
/** The name of a signing key is a thumbprint, which may begin like an id. */
const THUMBPRINT = /^[\w-]{43}$/;

/** A party of the audit log. The log outlives its parties, so any whole id may be one. */
export function auditParty(value: string): string {
  const refusal =
    'It must be a whole id, such as cli_ and 22 letters or digits, or a name in the log, such as domain.';
  assertIs(
    [WHOLE_ID, PARTY_NAME, THUMBPRINT].some((form) => form.test(value)),
    refusal,
  );
  return value;
}

/** Types of the audit log, or patterns of them; may be repeated. */
export function auditTypes(value: string, previous?: readonly string[]): readonly string[] {
  assertIs(matchesAuditTypes(value), `It ${AUDIT_TYPE_MESSAGE}.`);
  return collected(value, previous);
}

/** One type of the contract. */
export function eventType(value: string): string {
  assertIs(EVENT_TYPES.includes(value), `It must be one of ${EVENT_TYPES.join(', ')}.`);
  return value;
}

/** A value of a list, for an option that may be repeated. */
export function collectedOf(known: readonly string[]): typeof collected {
  return (value, previous) => {
    assertIs(known.includes(value), `It must be one of ${known.join(', ')}.`);
    return collected(value, previous);
  };
}

/** `ins_…=https://app.example.com/callback`: an instance, and the address where people return. */
export function redirectUris(
  text: string,
  previous: readonly { instanceId: string; uri: string }[] = [],
): readonly { instanceId: string; uri: string }[] {
  const [, instanceId, uri] = /^(ins_\w+)=(.+)$/.exec(text) ?? [];
  assertIs(
    instanceId !== undefined && uri !== undefined,
    'It must be an instance and an address, such as ins_…=https://app.example.com/cb.',
  );
  return [...previous, { instanceId, uri }];
}

function timeOrDistance(text: string, sign: 1 | -1): Date {
  const isTime = /^\d{4}-/.test(text);
  // Without a zone, `Date` takes some forms for UTC and others for local time.
  const zoned = /^[\d-]+(?:[T ][\d:.]+)?$/i.test(text) ? `${text}Z` : text;
  const time = isTime ? new Date(zoned) : new Date(Date.now() + sign * secondsIn(text) * 1_000);
  // `Date` takes 2027-02-31 for the third of March.
  const [year = 0, month = 0, day] = (/^(\d{4})-(\d+)-(\d+)/.exec(text) ?? []).slice(1).map(Number);
  const hasDay = day === undefined || new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
  assertIs(
    !Number.isNaN(time.getTime()) && hasDay,
    'It must be a time such as 2027-01-31 or 2027-01-31T12:00:00Z, or a duration with its unit, such as 12h or 90d.',
  );
  return time;
}
