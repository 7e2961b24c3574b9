import type { Words } from '../completion.js';
import { UsageError } from '../usage-error.js';

const SCRIPTS: Record<string, (words: readonly Words[]) => string> = { bash, zsh, fish };

/** The script contains every word, so that completing a word starts no process. */
export function completionScript(shell: string, words: readonly Words[]): string {
  const script = SCRIPTS[shell];
  if (!script) {
    throw new UsageError(
      `There is no completion for ${shell}; there is for ${Object.keys(SCRIPTS).join(', ')}.`,
    );
  }
  return script(words);
}

/** Every prefix of words with a leading blank: ` key`, ` key create`. */
function places(words: readonly Words[]): string[] {
  return words.map(({ after }) => after.map((word) => ` ${word}`).join(''));
}

function bash(words: readonly Words[]): string {
  const known = places(words).filter((place) => place !== '');
  const cases = words.map(
    ({ next }, index) =>
      `    "${places(words)[index]}") candidates="${next.map(({ word }) => word).join(' ')}" ;;`,
  );
  return `# bash completion of integration
_integration() {
  local current="\${COMP_WORDS[COMP_CWORD]}" place="" word candidates=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$place $word" in
      ${known.map((place) => `"${place}"`).join('|')}) place="$place $word" ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
}
complete -o default -F _integration integration`;
}

function zsh(words: readonly Words[]): string {
  const known = places(words).filter((place) => place !== '');
  const cases = words.map(({ next }, index) => {
    const candidates = next.map(({ word, about }) => `      ${quoted(`${word}:${about}`)}`);
    return `    "${places(words)[index]}") candidates=(\n${candidates.join('\n')}\n    ) ;;`;
  });
  return `#compdef integration
_integration() {
  local place="" word
  local -a candidates
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$place $word" in
      ${known.map((place) => `"${place}"`).join('|')}) place="$place $word" ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  _describe integration candidates
}
if [ "$funcstack[1]" = "_integration" ]; then _integration "$@"; else compdef _integration integration; fi`;
}

function fish(words: readonly Words[]): string {
  const known = places(words).filter((place) => place !== '');
  const lines = words.flatMap(({ next }, index) =>
    next.map(({ word, about }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`;
      return `complete -c integration -n ${quoted(`__integration_at '${places(words)[index]}'`, '"')} ${what} -d ${quoted(about)}`;
    }),
  );
  return `# fish completion of integration
function __integration_at
  set -l place ''
  for word in (commandline -opc)[2..-1]
    switch "$place $word"
      case ${known.map((place) => quoted(place)).join(' ')}
        set place "$place $word"
    end
  end
  test "$place" = "$argv[1]"
end
complete -c integration -f
${lines.join('\n')}`;
}

function quoted(text: string, quote = "'"): string {
  return quote === "'" ? `'${text.replaceAll("'", '’')}'` : `"${text}"`;
}
