import type { Code } from '../code.js';
import type { PlacedOperation } from '../contract.js';
import type { Api } from './api.js';
import { curlOf } from './curl.js';
import { type SampleBook, type Samples, sampleLanguages } from './sample-book.js';

const ENTRY = /^## (\w+)\n+```\w+\n([\s\S]*?)\n```$/gm;

/** Reads a list of programs, each under its operation id. */
export function samplesIn(markdown: string): Samples {
  return Object.fromEntries([...markdown.matchAll(ENTRY)].map(([, id = '', code = '']) => [id, code]));
}

/** The same call with curl and in each language. */
export function samplesOf(api: Api, placed: PlacedOperation): Code[] {
  const curl = curlOf(api, placed);
  return [
    ...(curl === undefined ? [] : [{ code: curl, language: 'bash', label: 'curl' }]),
    ...writtenSamples(api.samples, placed.operation.operationId),
  ];
}

/** The programs in the languages of the SDKs. */
export function writtenSamples(book: SampleBook, operationId: string): Code[] {
  return sampleLanguages.flatMap((language) => {
    const code = book[language][operationId];
    return code === undefined ? [] : [{ code, language }];
  });
}
