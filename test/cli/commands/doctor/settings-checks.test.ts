import { describe, expect, test } from '@jest/globals';
import {
  noInsecureSettingIsAllowed,
  noNameIsRefused,
  noNameLooksMisspelt,
} from '../../../../src/cli/commands/doctor/settings-checks.js';
import { doctorRig } from './rig.js';

const { outcomeOf } = doctorRig();

describe('settings', () => {
  test('that are misspelt are reported with the setting that was meant', async () => {
    const given = { GATEWAY_PROT: '1', WEBHOOK_X: '', PATH: '/bin' };
    expect(await outcomeOf(noNameIsRefused, given)).toMatchObject({
      status: 'error',
      examples: ['GATEWAY_PROT is not a setting; did you mean GATEWAY_PORT?'],
    });
    expect(await outcomeOf(noNameLooksMisspelt, given)).toMatchObject({
      status: 'warning',
      examples: ['WEBHOOK_X is not a setting'],
    });
    for (const check of [noNameIsRefused, noNameLooksMisspelt]) {
      expect(await outcomeOf(check, { GATEWAY_PORT: '1' })).toMatchObject({ status: 'ok' });
    }
  });

  test('that are insecure and allowed are a warning', async () => {
    const allowed = { METRICS_HOST: '0.0.0.0', INSECURE_ALLOWED: 'metrics' };
    expect(await outcomeOf(noInsecureSettingIsAllowed, allowed)).toMatchObject({
      status: 'warning',
      count: 1,
    });
    expect(await outcomeOf(noInsecureSettingIsAllowed)).toMatchObject({ status: 'ok' });
  });
});
