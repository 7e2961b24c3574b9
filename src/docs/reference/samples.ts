import type { Code } from '../code.js';
import type { Parameter, PlacedOperation } from '../contract.js';
import type { Api } from './api.js';
import { curlOf } from './curl.js';
import { type SampleBook, type Samples, sampleLanguages } from './sample-book.js';

const PUBLIC_ID = /^[a-z]{3}_[0-9A-Za-z]{22}$/;
const ENTRY = /^## (\w+)\n+```\w+\n([\s\S]*?)\n```$/gm;

/** Reads a list of programs, each under its operation id. */
export function samplesIn(markdown: string): Samples {
  return Object.fromEntries([...markdown.matchAll(ENTRY)].map(([, id = '', code = '']) => [id, code]));
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
    return PUBLIC_ID.test(id) ? result.replaceAll(id, `{{${name}=${id}}}`) : result;
  }, code);
}

/** The programs in the languages of the SDKs. */
export function writtenSamples(book: SampleBook, operationId: string): Code[] {
  return sampleLanguages.flatMap((language) => {
    const code = book[language][operationId];
    return code === undefined ? [] : [{ code, language }];
  });
}
