import { type Command, Option } from 'commander';
import { print } from './output/print.js';

const NOTES = `
Examples:
  $ source <(integration completion bash)                        for this shell
  $ integration completion zsh > "\${fpath[1]}/_integration"
  $ integration completion fish > ~/.config/fish/completions/integration.fish`;

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('Print the completion script of a shell')
    .argument('<shell>', 'bash, zsh or fish')
    .addHelpText('after', NOTES)
    .action(async (shell: string) => {
      const { completionScript } = await import('./completion/scripts.js');
      print(completionScript(shell, placesIn(program)));
    });
}

/** The words that may follow at a place: after ` key` come `create`, `list`, … */
export interface Place {
  /** The words before, each with a leading blank; empty at the beginning. */
  after: string;
  next: readonly { word: string; about: string }[];
}

function placesIn(command: Command, after = ''): Place[] {
  const visible = command.createHelp();
  const commands = visible.visibleCommands(command);
  const options = visible.visibleOptions(command).filter((option) => option instanceof Option && option.long);
  const next = [
    ...commands.map((one) => ({ word: one.name(), about: visible.subcommandDescription(one) })),
    ...(after === ' completion' ? ['bash', 'zsh', 'fish'].map((word) => ({ word, about: '' })) : []),
    ...options.map((option) => ({ word: option.long as string, about: option.description })),
  ];
  const below = commands.filter((one) => one.name() !== 'help');
  return [{ after, next }, ...below.flatMap((one) => placesIn(one, `${after} ${one.name()}`))];
}
