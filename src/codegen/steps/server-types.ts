import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { type Document, placed } from '../documents.js';
import { BANNER, OPENAPI_DOCUMENTS, type OpenapiDocument } from '../layout.js';
import { readBundle } from './bundles.js';

/** The OpenAPI documents -> types of every operation for the edge, and a table of operations. */
export async function generateServerTypes(outDir: string): Promise<void> {
  for (const name of OPENAPI_DOCUMENTS) {
    const document = await readBundle(outDir, name);
    const types = astToString(
      await openapiTS(document as never, { alphabetize: true, transform: publicIdType }),
    );
    await writeFile(join(outDir, 'openapi', `${name}.ts`), BANNER + types);
    await writeFile(join(outDir, 'openapi', `${name}-operations.ts`), operationsTable(name, document));
  }
}

/** A public id is a text with its prefix, so that kinds cannot be confused. */
function publicIdType(schema: object): ts.TypeNode | undefined {
  if (!('x-public-id-prefix' in schema)) {
    return undefined;
  }
  const { factory } = ts;
  const text = factory.createKeywordTypeNode(ts.SyntaxKind.StringKeyword);
  const head = factory.createTemplateHead(`${schema['x-public-id-prefix']}_`);
  return factory.createTemplateLiteralType(head, [
    factory.createTemplateLiteralTypeSpan(text, factory.createTemplateTail('')),
  ]);
}

function operationsTable(name: OpenapiDocument, document: Document): string {
  const rows = placed(document.paths).map(({ method, path, operation }) => {
    const requirements = operation.security ?? document.security ?? [];
    const security = JSON.stringify(requirements.map((requirement) => Object.keys(requirement)));
    const judges = operation['x-invalid-request'] === 'handler' ? ', judgesItself: true' : '';
    return `  ${operation.operationId}: { method: '${method}', path: '${path}', security: ${security}${judges} },`;
  });
  return [
    BANNER,
    `/** Every operation of the ${name} contract, by its operation id. Security: alternatives of schemes needed together. */`,
    `export const operations = {\n${rows.join('\n')}\n} as const;\n`,
    'export type OperationId = keyof typeof operations;\n',
  ].join('\n');
}
