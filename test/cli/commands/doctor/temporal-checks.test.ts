import { expect, test } from '@jest/globals';
import { examined } from '../../../../src/cli/commands/doctor/doctor-action.js';
import { temporalChecks } from '../../../../src/cli/commands/doctor/temporal-checks.js';
import { freePorts } from '../../../support/free-ports.js';
import { doctorRig } from './rig.js';

const { directory, outcomeOf } = doctorRig();

test.each(temporalChecks)('the check $name is skipped without the address of Temporal', async (check) => {
  expect(await outcomeOf(check)).toMatchObject({ status: 'skipped', reason: 'TEMPORAL_ADDRESS is not set' });
});

test('a Temporal server that does not answer is one warning', async () => {
  const [port] = await freePorts(1);
  const settings = { DATA_DIR: directory(), TEMPORAL_ADDRESS: `127.0.0.1:${port}` };
  const outcomes = await examined(settings, temporalChecks, true);
  expect(outcomes.map(({ status }) => status)).toEqual(['warning', ...Array(4).fill('skipped')]);
});
