import type { Command } from 'commander';
import type { DemoToken } from '../../demo/demo-file.js';
import { addTargetOptions, TARGET_NOTE } from '../target-options.js';
import type { Action, CommandOptions } from './session.js';

const NOTES = `\n${TARGET_NOTE}\nWith --json the answer of the gRPC method is printed, in the JSON of protobuf; a list is one array.\n`;

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

interface VerbNotes {
  name?: string;
  about: string;
  example: string;
  /** The token of the demo environment that may do it, where that is not the operator's. */
  demoToken?: DemoToken;
}

/** A verb. Its action is loaded only when it runs: gRPC is slow to load, and `serve` does not need it. */
export function addVerb<Verb extends string>(
  group: Command,
  load: () => Promise<Readonly<Record<Verb, Action<never>>>>,
  verb: Verb,
  { name = verb, about, example, demoToken }: VerbNotes,
): Command {
  const command = addTargetOptions(group.command(name))
    .description(about)
    .option('--json', 'as JSON, for scripts')
    .addHelpText('after', `\n${TARGET_NOTE}\n${examples(`${group.name()} ${name} ${example}`.trimEnd())}`);
  return command.action(async () => {
    const [{ run }, actions] = await Promise.all([import('./session.js'), load()]);
    const args = command.processedArgs as readonly string[];
    await run(actions[verb], args, command.opts<CommandOptions>(), demoToken);
  });
}
