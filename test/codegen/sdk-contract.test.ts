import { expect, test } from '@jest/globals';
import { generatedDir, OPENAPI_DOCUMENTS, releasedDir } from '../../src/codegen/layout.js';
import { readBundle } from '../../src/codegen/steps/bundles.js';
import { contractForSdk, withoutChecks } from '../../src/codegen/steps/sdk-contract.js';

test.each(OPENAPI_DOCUMENTS)(
  'clients that check answers require no member that came after a release: %s',
  async (document) => {
    const [released, present] = await Promise.all([
      readBundle(releasedDir, document),
      readBundle(generatedDir, document),
    ]);
    const checked = withoutChecks(contractForSdk(present)).components.schemas;
    const added = Object.entries(withoutChecks(released).components.schemas).flatMap(
      ([name, { properties = {} }]) => {
        const { required = [] } = checked[name] ?? {};
        return required.filter((member) => !(member in properties)).map((member) => `${name}.${member}`);
      },
    );
    expect(added).toEqual([]);
  },
);

test('clients that check answers accept workers without offboardedAt, which services of release 1.3.1 lack', async () => {
  const present = await readBundle(generatedDir, 'gateway');
  const { WorkerV2 } = withoutChecks(contractForSdk(present)).components.schemas;
  expect(WorkerV2?.properties).toHaveProperty('offboardedAt');
  expect(WorkerV2?.required).toContain('id');
  expect(WorkerV2?.required).not.toContain('offboardedAt');
});
