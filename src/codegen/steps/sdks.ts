import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OpenapiDocument, openapiDocuments, root, version } from '../layout.js';
import { mustRun } from '../run-tool.js';
import { readBundle } from './bundles.js';

const GENERATORS = {
  typescript: {
    name: 'typescript-fetch',
    options: () => ({
      modelPropertyNaming: 'original',
      paramNaming: 'camelCase',
      importFileExtension: '.js',
      supportsES6: 'true',
      stringEnums: 'false',
    }),
  },
  python: {
    name: 'python',
    options: (document: OpenapiDocument) => ({
      packageName: `integration_${document.replace('-', '_')}`,
      projectName: `integration-${document}`,
      packageVersion: version,
    }),
  },
  go: {
    name: 'go',
    options: (document: OpenapiDocument) => ({
      packageName: document.replace('-', ''),
      disallowAdditionalPropertiesIfNotPresent: 'false',
      enumUnknownDefaultCase: 'true',
      enumClassPrefix: 'true',
      withGoMod: 'false',
      generateInterfaces: 'false',
    }),
  },
} as const;

export type SdkLanguage = keyof typeof GENERATORS;
export const sdkLanguages = Object.keys(GENERATORS) as SdkLanguage[];

/** What a generator makes besides the client itself: CI of other hosts, packaging and documents in its own taste. */
const LEFT_OUT =
  /\/(\..*|docs|test|api\/openapi\.yaml|README\.md|git_push\.sh|.*requirements\.txt|tox\.ini|setup\.(py|cfg)|pyproject\.toml|tsconfig.*\.json|package\.json)$/;

interface Contract {
  info: { description: string; summary: string };
}

/** The generators repeat the description of the document at the head of every file; its summary is enough there. */
async function contractForSdk(outDir: string, document: OpenapiDocument): Promise<Contract> {
  const contract = await readBundle<Contract>(outDir, document);
  return { ...contract, info: { ...contract.info, description: contract.info.summary } };
}

/** The OpenAPI documents -> a client in each language. */
export async function generateSdk(outDir: string, language: SdkLanguage): Promise<void> {
  for (const document of openapiDocuments) {
    const scratch = await mkdtemp(join(tmpdir(), 'integration-sdk-'));
    const { name, options } = GENERATORS[language];
    const properties = Object.entries(options(document)).map(([key, value]) => `${key}=${value}`);
    const input = join(scratch, 'contract.json');
    await writeFile(input, JSON.stringify(await contractForSdk(outDir, document)));
    await mustRun(
      'openapi-generator-cli',
      [
        ['--openapitools', join(root, 'openapi/openapitools.json')],
        ['generate', '-g', name, '-i', input, '-o', join(scratch, 'client')],
        ['--additional-properties', ['hideGenerationTimestamp=true', ...properties].join(',')],
        ['--global-property', 'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false'],
      ].flat(),
    );
    await cp(join(scratch, 'client'), join(outDir, 'sdk', language, document), {
      recursive: true,
      filter: (source) => !LEFT_OUT.test(source.slice(scratch.length)),
    });
    await rm(scratch, { recursive: true });
  }
}
