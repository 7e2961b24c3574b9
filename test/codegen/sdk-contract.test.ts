import { expect, test } from '@jest/globals';
import { generatedDir } from '../../src/codegen/layout.js';
import { readBundle } from '../../src/codegen/steps/bundles.js';
import { contractForSdk, withoutChecks } from '../../src/codegen/steps/sdk-contract.js';

test('clients that check answers accept workers without offboardedAt, which services of release 1.3.1 lack', async () => {
  const present = await readBundle(generatedDir, 'gateway');
  const { WorkerV2 } = withoutChecks(contractForSdk(present)).components.schemas;
  expect(WorkerV2?.properties).toHaveProperty('offboardedAt');
  expect(WorkerV2?.required).toContain('id');
  expect(WorkerV2?.required).not.toContain('offboardedAt');
});
