import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Document } from '../documents.js';
import { placeGenerator } from '../generator.js';
import { OPENAPI_DOCUMENTS, type OpenapiDocument, root, version } from '../layout.js';
import { inScratch, mustRun } from '../run-tool.js';
import { readBundle } from './bundles.js';
import { contractForSdk, withoutChecks } from './sdk-contract.js';

const templates = join(root, 'src/codegen/templates');

const GENERATORS = {
  typescript: {
    settings: { generatorName: 'typescript-fetch' },
    prepare: contractForSdk,
    options: () => ({
      modelPropertyNaming: 'original',
      paramNaming: 'camelCase',
      importFileExtension: '.js',
      supportsES6: true,
      stringEnums: false,
    }),
  },
  python: {
    settings: { generatorName: 'python', templateDir: join(templates, 'python') },
    prepare: (contract: Document) => withoutChecks(contractForSdk(contract)),
    options: (document: OpenapiDocument) => ({
      packageName: `integration_${document.replace('-', '_')}`,
      projectName: `integration-${document}`,
      packageVersion: version,
    }),
  },
  go: {
    settings: { generatorName: 'go', templateDir: join(templates, 'go') },
    prepare: (contract: Document) => withoutChecks(contractForSdk(contract)),
    options: (document: OpenapiDocument) => ({
      packageName: document.replace('-', ''),
      disallowAdditionalPropertiesIfNotPresent: false,
      withGoMod: false,
      generateInterfaces: false,
    }),
  },
};

/** Unwanted output of the generators: CI files, packaging and documentation. */
const LEFT_OUT =
  /\/(\..*|docs|test|api\/openapi\.yaml|README\.md|git_push\.sh|.*requirements\.txt|tox\.ini|setup\.(py|cfg)|pyproject\.toml|tsconfig.*\.json|package\.json)$/;

/** The OpenAPI documents -> a client in each language, in one run of Java: most of a run is its start. */
export function generateSdks(outDir: string): Promise<void> {
  return inScratch(async (scratch) => {
    const clients = join(scratch, 'clients');
    const jobs: string[] = [];
    for (const [language, { settings, prepare, options }] of Object.entries(GENERATORS)) {
      for (const document of OPENAPI_DOCUMENTS) {
        const inputSpec = join(scratch, `${language}-${document}-contract.json`);
        await writeFile(inputSpec, JSON.stringify(prepare(await readBundle(outDir, document))));
        const job = {
          ...settings,
          inputSpec,
          outputDir: join(clients, language, document),
          additionalProperties: { hideGenerationTimestamp: true, ...options(document) },
          globalProperties: { apiTests: false, modelTests: false, apiDocs: false, modelDocs: false },
        };
        const file = join(scratch, `${language}-${document}.json`);
        await writeFile(file, JSON.stringify(job));
        jobs.push(file);
      }
    }
    await placeGenerator();
    const configuration = ['--openapitools', join(root, 'openapi/openapitools.json')];
    await mustRun('openapi-generator-cli', [...configuration, 'batch', '--fail-fast', ...jobs]);
    await cp(clients, join(outDir, 'sdk'), {
      recursive: true,
      filter: (source) => !LEFT_OUT.test(source.slice(clients.length)),
    });
  });
}
