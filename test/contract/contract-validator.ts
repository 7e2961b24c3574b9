import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { type ContractFile, findExampleSites, isObject, type Json } from './documented-examples.js';

const OUR_KEYWORDS = [
  ...['x-public-id-prefix', 'x-enum-descriptions'],
  ...['example', 'discriminator', 'xml'],
];

/** The same document, its references as ajv sees it: whole addresses, with the document one level down. */
function withAbsoluteRefs(value: Json, baseUri: string): Json {
  if (Array.isArray(value)) {
    return value.map((item) => withAbsoluteRefs(item, baseUri));
  }
  if (!isObject(value)) {
    return value;
  }
  const entries = Object.entries(value).map(([key, member]): [string, Json] => {
    if (key !== '$ref' || typeof member !== 'string') {
      return [key, withAbsoluteRefs(member, baseUri)];
    }
    const target = new URL(member, baseUri).href;
    return [key, target.includes('#') ? target.replace('#', '#/definitions/document') : target];
  });
  return Object.fromEntries(entries);
}

/** Validates values against any schema of the contracts, in the dialect of the document that holds it. */
export class ContractValidator {
  private readonly openApi = new Ajv2020({
    strict: true,
    strictRequired: false,
    allErrors: true,
    allowUnionTypes: true,
  });
  private readonly asyncApi = new Ajv({
    strict: true,
    strictRequired: false,
    allErrors: true,
    allowUnionTypes: true,
  });
  private readonly compiled = new Map<string, ValidateFunction>();

  constructor(files: ContractFile[]) {
    for (const ajv of [this.openApi, this.asyncApi]) {
      formats.default(ajv);
      ajv.addVocabulary(OUR_KEYWORDS);
      // Only the schema that is asked for is compiled, strictly; the document around it is no schema.
      for (const file of files) {
        ajv.addSchema(
          { definitions: { document: withAbsoluteRefs(file.root, file.uri) } },
          file.uri,
          undefined,
          false,
        );
      }
    }
  }

  /** What is wrong with the value, or an empty list. */
  violations(file: ContractFile, pointer: string, value: Json): string[] {
    const fragment = pointer.split('/').map(encodeURIComponent).join('/');
    const $ref = `${file.uri}#/definitions/document${fragment}`;
    const validate =
      this.compiled.get($ref) ?? (file.root.asyncapi ? this.asyncApi : this.openApi).compile({ $ref });
    this.compiled.set($ref, validate);
    if (validate(value)) {
      return [];
    }
    return (validate.errors ?? []).map((error) => `${error.instancePath || '(whole)'} ${error.message}`);
  }
}

/** One line for each example that its schema refuses. */
export function wrongExamples(files: ContractFile[]): string[] {
  const validator = new ContractValidator(files);
  return files.flatMap((file) =>
    findExampleSites(file).flatMap((site) =>
      site.examples.flatMap(({ label, value }) =>
        validator
          .violations(file, site.pointer, value)
          .map((violation) => `${file.name}#${site.pointer} [${label}] ${violation}`),
      ),
    ),
  );
}
