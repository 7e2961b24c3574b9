/** A block of code of a page. */
export interface Block {
  language: string;
  /** What stands after the language: `file=…` and the like. */
  info: string;
  code: string;
}

export interface Program {
  language: string;
  file: string;
  code: string;
}

/** Programs that do the same, and what each run of any of them prints. */
export interface Example {
  programs: Program[];
  prints: string[];
}

const FENCE = /^```(\S+)[ \t]*([^\n]*)\n([\s\S]*?)^```[ \t]*$/gm;
const PROGRAM_LANGUAGES = ['ts', 'python', 'go'];

export function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(FENCE)].map(([, language = '', info = '', code = '']) => ({
    language,
    info,
    code,
  }));
}

export const isCode = ({ language }: Block) => PROGRAM_LANGUAGES.includes(language);

/** What to run and what it has to print, in the order of the page. */
export function examplesOf(markdown: string): Example[] {
  const examples: Example[] = [];
  for (const block of blocksOf(markdown)) {
    const [, file] = /(?:^|\s)file=(\S+)/.exec(block.info) ?? [];
    const last = examples.at(-1);
    if (file !== undefined) {
      const example = last && last.prints.length === 0 ? last : newExample(examples);
      example.programs.push({ language: block.language, file, code: block.code });
    } else if (/(?:^|\s)prints(?:\s|$)/.test(block.info)) {
      last?.prints.push(block.code.trimEnd());
    }
  }
  return examples;
}

function newExample(examples: Example[]): Example {
  const example = { programs: [], prints: [] };
  examples.push(example);
  return example;
}

/** `…` in a line stands for anything, a line of nothing else for any number of lines. */
export function patternOf(prints: string): RegExp {
  const lines = prints.split('\n').map((line) => {
    const exact = line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*');
    return line === '…' ? '(?:.*\\n)*' : `${exact}\\n`;
  });
  return new RegExp(`^${lines.join('')}$`);
}

/** The page as text, with the addresses of the service that serves it. */
export async function servedPage(gatewayUrl: string, slug: string): Promise<string> {
  const answer = await fetch(`${gatewayUrl}/docs/${slug}.md`);
  if (answer.status !== 200) {
    throw new Error(`The page ${slug} is answered ${answer.status}: was it rendered by \`make build\`?`);
  }
  return answer.text();
}
