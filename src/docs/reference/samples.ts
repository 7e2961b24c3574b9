import type { Code } from '../code.js';
import type { Parameter, PlacedOperation } from '../contract.js';
import type { Api } from './api.js';

export const SAMPLE_LANGUAGES = ['typescript', 'python', 'go'] as const;

/** Programs of one language, by operation id. */
export type Samples = Readonly<Record<string, string>>;

/** The programs of all languages. */
export type SampleBook = Readonly<Record<(typeof SAMPLE_LANGUAGES)[number], Samples>>;

const PUBLIC_ID = /^[a-z]{3}_[0-9A-Za-z]{22}$/;
const FRAME = /^## frame ([\w-]+)\n+```\w+\n([\s\S]*?)\n```$/gm;
const ENTRY = /^## (\w+)\n+```\w+(?: ([\w-]+))?\n([\s\S]*?)\n```$/gm;
const CONDITIONAL_LINE = /^(.*) \{\{if (.+)\}\}\n/gm;
const PROGRAM_LINE = /^([ \t]*)\{\{program\}\}$/m;

/** Reads a list of programs, each under its operation id, and puts those that name a frame into it. */
export function samplesIn(markdown: string): Samples {
  const frames = new Map([...markdown.matchAll(FRAME)].map(([, name, code]) => [name, code]));
  return Object.fromEntries(
    [...markdown.matchAll(ENTRY)].map(([, id = '', name, program = '']) => {
      const frame = name === undefined ? '{{program}}' : frames.get(name);
      if (frame === undefined || !PROGRAM_LINE.test(frame)) {
        throw new Error(`The sample ${id} needs a section "frame ${name}" with a line {{program}}.`);
      }
      return [id, framed(program, frame)];
    }),
  );
}

/** Without the lines of the frame that only other programs need. */
function framed(program: string, frame: string): string {
  return frame
    .replace(CONDITIONAL_LINE, (_, line: string, text: string) => (program.includes(text) ? `${line}\n` : ''))
    .replace(PROGRAM_LINE, (_, indent: string) => program.replace(/^(?=.)/gm, indent));
}

/** The same call with curl and in each language. The edge of a demo fills in ids that exist there. */
export function samplesOf(api: Api, placed: PlacedOperation): Code[] {
  const curl = curlOf(api, placed);
  const samples = [
    ...(curl === undefined ? [] : [{ code: curl, language: 'bash', label: 'curl' }]),
    ...writtenSamples(api.samples, placed.operation.operationId),
  ];
  return samples.map((sample) => ({ ...sample, code: withIdPlaces(sample.code, placed.parameters) }));
}

function withIdPlaces(code: string, parameters: Parameter[]): string {
  return parameters.reduce((result, { name, example }) => {
    const id = String(example);
    return result.replaceAll(id, idPlaceOf(name, id));
  }, code);
}

/** The example of a parameter; an id as a placeholder, which a demo replaces with one that exists there. */
export function idPlaceOf(name: string, example: unknown): string {
  const id = String(example);
  return PUBLIC_ID.test(id) ? `{{${name}=${id}}}` : id;
}

/** The programs in the languages of the SDKs. */
export function writtenSamples(book: SampleBook, operationId: string): Code[] {
  return SAMPLE_LANGUAGES.flatMap((language) => {
    const code = book[language][operationId];
    return code === undefined ? [] : [{ code, language }];
  });
}

/** Placeholders for the reader's credentials. */
const PROOF: Record<string, string> = {
  apiKey: `-H "x-api-key: $API_KEY"`,
  accessToken: '-H "Authorization: Bearer $ACCESS_TOKEN"',
  clientBasic: '-u "$CLIENT_ID:$CLIENT_SECRET"',
};

/** The forms of an operation, with shell variables for their values: an exchange of a code and a refresh. */
const FORMS: Record<string, string[][]> = {
  token: [
    [
      'grant_type=authorization_code',
      'redirect_uri=$REDIRECT_URI',
      'code=$CODE',
      'code_verifier=$CODE_VERIFIER',
    ],
    ['grant_type=refresh_token', 'refresh_token=$REFRESH_TOKEN'],
  ],
  revoke: [['token=$REFRESH_TOKEN']],
  introspect: [['token=$ACCESS_TOKEN']],
};

/** A curl command for each form; undefined for what a browser does. */
function curlOf(api: Api, { operation, method, path, parameters }: PlacedOperation): string | undefined {
  if (path === undefined || '303' in operation.responses) {
    return undefined;
  }
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => exampleOf(parameters, name));
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && (parameter.required || parameter.name === 'limit'))
    .map(({ name }) => `${name}=${exampleOf(parameters, name)}`);
  const search = query.length > 0 ? `?${query.join('&')}` : '';
  const forms = FORMS[operation.operationId] ?? [[]];
  return forms
    .map((form) => [
      method === 'post' && form.length === 0 ? 'curl -X POST' : 'curl',
      ...api.contract.securityOf(operation).map((way) => PROOF[way]),
      ...form.map((pair) => `--data-urlencode "${pair}"`),
      `"${api.url}${filled}${search}"`,
    ])
    .map((parts) => parts.join(' \\\n  ').replace('curl \\\n  ', 'curl '))
    .join('\n\n');
}

function exampleOf(parameters: Parameter[], name: string): string {
  return String(parameters.find((parameter) => parameter.name === name)?.example ?? `{${name}}`);
}
