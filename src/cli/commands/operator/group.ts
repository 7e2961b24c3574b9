import { type Command, Option } from 'commander';
import { publicIdPrefixes } from '../../../../generated/ids.js';
import type { ServiceTokenKind } from '../../../identifiers/service-token.js';
import { addTargetOptions, count, idOf, seconds, TARGET_NOTE } from '../options.js';
import type { Action } from './session.js';

const NOTES = `
${TARGET_NOTE}
With --json the answer of the gRPC method is printed, in the JSON of protobuf;
a list is one array.
`;

export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ integration ${line}`).join('\n')}`;
}

/** A noun with its verbs: `integration key create …`. */
export function addGroup(program: Command, name: string, about: string, ...lines: string[]): Command {
  return asGroup(program.command(name).description(about), ...lines);
}

/** Makes a group of a command that also does something by itself. */
export function asGroup(command: Command, ...lines: string[]): Command {
  return command.addHelpText('after', NOTES + examples(...lines));
}

/** For the help of a group without a verb `create`: how to make one. */
export function making(method: string, request: string): string {
  return `\nTo make one (\`integration import\` makes many; both need a platform token):\n  $ integration call Platform/${method} '${request}'`;
}

interface VerbNotes {
  about: string;
  /** The id of the noun unless given. */
  example?: string;
  /** The kind of token that the verb needs, if not the operator's. A demo has one of each kind. */
  demoToken?: ServiceTokenKind;
}

/** Descriptions of arguments. An argument that is not listed is the id of the group's noun. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  application: 'its client_id',
  connection: 'id of the instance integration',
};

/** Of ids, by the argument that takes them. */
const PREFIXES: Readonly<Record<string, string>> = {
  account: publicIdPrefixes.AccountId,
  application: publicIdPrefixes.ApplicationId,
  client: publicIdPrefixes.ClientId,
  connection: publicIdPrefixes.InstanceIntegrationId,
  delivery: publicIdPrefixes.DeliveryId,
  'encryption-key': 'ek',
  event: publicIdPrefixes.EventId,
  instance: publicIdPrefixes.InstanceId,
  integration: publicIdPrefixes.IntegrationId,
  key: 'key',
  'service-token': 'tok',
  subscription: publicIdPrefixes.SubscriptionId,
  user: publicIdPrefixes.UserId,
  worker: publicIdPrefixes.WorkerId,
};

/** `usage` is the verb and perhaps what it is about: `show <user>`. */
export function addVerb(
  group: Command,
  usage: string,
  action: Action<never, never>,
  { about, example: given, demoToken }: VerbNotes,
): Command {
  const command = addTargetOptions(group.command(usage));
  const [noun] = command.registeredArguments;
  const prefix = PREFIXES[noun?.name() ?? ''];
  if (noun && prefix) {
    noun.argParser(idOf(prefix)).description = ARGUMENTS[noun.name()] ?? 'its id';
  }
  const example = given ?? (prefix ? `${prefix}_…` : '');
  const line = `${group.name()} ${command.name()} ${example}`.trimEnd();
  command
    .description(demoToken === 'platform' ? `${about} (needs a platform token)` : about)
    .option('--json', 'as JSON, for scripts')
    .addHelpText('after', `\n${TARGET_NOTE}\n${examples(line)}`);
  return runsInSession(command, action, demoToken);
}

/** The command runs the action in a session. gRPC is loaded only then: it is slow to load. */
export function runsInSession(
  command: Command,
  action: Action<never, never>,
  demoToken?: ServiceTokenKind,
): Command {
  return command.action(async () => {
    const { run } = await import('./session.js');
    await run(action, command.processedArgs, command.opts(), demoToken);
  });
}

/** Options that several verbs have. */
export const LIMIT = ['--limit <count>', 'how many at most', count] as const;
export const EXPECTED_VERSION = ['--expected-version <version>', 'refuse if it was changed since'] as const;
export const YES = ['--yes', 'do not ask'] as const;

/** `what` is true during the overlap, such as "both work". */
export function overlapOption(what: string, present: 'one' | 'ones'): Option {
  const about = `how long ${what}; 24h unless given, 0 ends the present ${present} at once`;
  return new Option('--overlap <duration>', about).argParser(seconds);
}
