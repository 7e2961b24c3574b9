import { type Command, Option } from 'commander';
import { UsageError } from './errors.js';
import { print } from './output/print.js';

const NOTES = `
Examples:
  $ source <(integration completion bash)                        for this shell
  $ integration completion zsh > "\${fpath[1]}/_integration"
  $ integration completion fish > ~/.config/fish/completions/integration.fish

After an upgrade, write the file again.`;

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('Print the completion script of a shell')
    .argument('<shell>', 'bash, zsh or fish')
    .addHelpText('after', NOTES)
    .action((shell: string) => print(completionScript(shell, placesIn(program))));
}

/** The words that may follow at a place: after ` key` come `create`, `list`, … */
interface Place {
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

const SCRIPTS: Record<string, (places: readonly Place[]) => string> = { bash, zsh, fish };

/** The script contains every word, so that completing a word starts no process. */
function completionScript(shell: string, places: readonly Place[]): string {
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (!script) {
    throw new UsageError(
      `There is no completion for ${shell}; there is for ${Object.keys(SCRIPTS).join(', ')}.`,
    );
  }
  return script(places);
}

function bash(places: readonly Place[]): string {
  const candidates = places.map(
    ({ after, next }) => `    "${after}") candidates="${next.map(({ word }) => word).join(' ')}" ;;`,
  );
  return `# bash completion of integration
_integration() {
  local current="\${COMP_WORDS[COMP_CWORD]}" place="" word candidates=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    ${stepTo(places)}
  done
  case "$place" in
${candidates.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
}
complete -o default -F _integration integration`;
}

function zsh(places: readonly Place[]): string {
  const candidates = places.map(({ after, next }) => {
    const described = next.map(({ word, about }) => `      ${quoted(`${word}:${about}`)}`);
    return `    "${after}") candidates=(\n${described.join('\n')}\n    ) ;;`;
  });
  return `#compdef integration
_integration() {
  local place="" word
  local -a candidates
  for word in "\${(@)words[2,CURRENT-1]}"; do
    ${stepTo(places)}
  done
  case "$place" in
${candidates.join('\n')}
  esac
  _describe integration candidates || _files
}
if [ "$funcstack[1]" = "_integration" ]; then _integration "$@"; else compdef _integration integration; fi`;
}

/** Options and values leave the place as it is. */
function stepTo(places: readonly Place[]): string {
  const known = places.slice(1).map(({ after }) => `"${after}"`);
  return `case "$place $word" in ${known.join('|')}) place="$place $word" ;; esac`;
}

function fish(places: readonly Place[]): string {
  const known = places.slice(1).map(({ after }) => quoted(after));
  const lines = places.flatMap(({ after, next }) =>
    next.map(({ word, about }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`;
      return `complete -c integration -n "__integration_at '${after}'" ${what} -d ${quoted(about)}`;
    }),
  );
  return `# fish completion of integration
function __integration_at
  set -l place ''
  for word in (commandline -opc)[2..-1]
    switch "$place $word"
      case ${known.join(' ')}
        set place "$place $word"
    end
  end
  test "$place" = "$argv[1]"
end
${lines.join('\n')}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", '’')}'`;
}
