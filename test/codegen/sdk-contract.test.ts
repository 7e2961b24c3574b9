import { expect, test } from '@jest/globals';
import type { Document } from '../../src/codegen/documents.js';
import { ASYNCAPI_DOCUMENT, generatedDir, OPENAPI_DOCUMENTS, releasedDir } from '../../src/codegen/layout.js';
import { readBundle } from '../../src/codegen/steps/bundles.js';
import { contractForSdk, withoutChecks } from '../../src/codegen/steps/sdk-contract.js';

test.each(OPENAPI_DOCUMENTS)(
  'clients that check answers require no member that came after a release: %s',
  async (document) => {
    const [released, present] = await Promise.all([
      readBundle(releasedDir, document),
      readBundle(generatedDir, document),
    ]);
    expect(requiredSince(withoutChecks(released), withoutChecks(contractForSdk(present)))).toEqual([]);
  },
);

/** Members that a schema requires and did not have when it was released. */
function requiredSince(released: Document, present: Document): string[] {
  return Object.entries(released.components.schemas).flatMap(([name, { properties = {} }]) => {
    const { required = [] } = present.components.schemas[name] ?? {};
    return required.filter((member) => !(member in properties)).map((member) => `${name}.${member}`);
  });
}

test('clients that check answers accept workers without offboardedAt, which services of release 1.3.1 lack', async () => {
  const present = await readBundle(generatedDir, 'gateway');
  const { WorkerV2 } = withoutChecks(contractForSdk(present)).components.schemas;
  expect(WorkerV2?.properties).toHaveProperty('offboardedAt');
  expect(WorkerV2?.required).toContain('id');
  expect(WorkerV2?.required).not.toContain('offboardedAt');
});

test('events require no member that came after a release, because those of before are sent again', async () => {
  const [released, present] = await Promise.all([
    readBundle(releasedDir, ASYNCAPI_DOCUMENT),
    readBundle(generatedDir, ASYNCAPI_DOCUMENT),
  ]);
  expect(requiredSince(released, present)).toEqual([]);
});
