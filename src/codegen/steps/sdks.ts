import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OpenapiDocument, openapiDocuments, root, version } from '../layout.js';
import { mustRun } from '../run-tool.js';
import { readBundle } from './bundles.js';
import { contractForSdk, withoutChecks } from './sdk-contract.js';

const templates = join(root, 'src/codegen/templates');

const GENERATORS = {
  typescript: {
    name: 'typescript-fetch',
    arguments: [],
    prepare: contractForSdk,
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
    arguments: ['-t', join(templates, 'python')],
    prepare: (contract: object) => withoutChecks(contractForSdk(contract)),
    options: (document: OpenapiDocument) => ({
      packageName: `integration_${document.replace('-', '_')}`,
      projectName: `integration-${document}`,
      packageVersion: version,
    }),
  },
  go: {
    name: 'go',
    arguments: ['-t', join(templates, 'go')],
    prepare: (contract: object) => withoutChecks(contractForSdk(contract)),
    options: (document: OpenapiDocument) => ({
      packageName: document.replace('-', ''),
      disallowAdditionalPropertiesIfNotPresent: 'false',
      withGoMod: 'false',
      generateInterfaces: 'false',
    }),
  },
} as const;

export type SdkLanguage = keyof typeof GENERATORS;
export const sdkLanguages = Object.keys(GENERATORS) as SdkLanguage[];

/** Unwanted output of the generators: CI files, packaging and documentation. */
const LEFT_OUT =
  /\/(\..*|docs|test|api\/openapi\.yaml|README\.md|git_push\.sh|.*requirements\.txt|tox\.ini|setup\.(py|cfg)|pyproject\.toml|tsconfig.*\.json|package\.json)$/;

/** The OpenAPI documents -> a client in each language. */
export async function generateSdk(outDir: string, language: SdkLanguage): Promise<void> {
  for (const document of openapiDocuments) {
    const scratch = await mkdtemp(join(tmpdir(), 'integration-sdk-'));
    const { name, arguments: more, prepare, options } = GENERATORS[language];
    const properties = Object.entries(options(document)).map(([key, value]) => `${key}=${value}`);
    const input = join(scratch, 'contract.json');
    await writeFile(input, JSON.stringify(prepare(await readBundle<object>(outDir, document))));
    await mustRun(
      'openapi-generator-cli',
      [
        ['--openapitools', join(root, 'openapi/openapitools.json')],
        ['generate', '-g', name, '-i', input, '-o', join(scratch, 'client'), ...more],
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
