import { describe, expect, test } from '@jest/globals';
import { removeRedirectUri, setApplicationEnabled } from '../../../../src/domain/operator/applications.js';
import { applicationsAt, MAX_ENTRANCES } from '../../../../src/domain/sign-on/interaction/entrances.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { browserRig, CALLBACK } from '../browser-rig.js';
import { ISSUER } from '../token-keys.js';

const under = databaseUnderTest('SQLite');

describe('a person who has set a password is led', () => {
  test('to where signing in begins, with the issuer and the instance', async () => {
    const rig = await browserRig(under);
    const initiateLoginUri = 'https://rota.example.com/sign-in?from=a+b&iss=https://evil.example#top';
    const applicationId = await rig.newApplication({ name: 'Rota', initiateLoginUri });
    const { instanceId } = rig.there;
    const query = new URLSearchParams({ from: 'a b', iss: ISSUER, instance_id: instanceId });
    expect(await applicationsAt(rig.signOn, [{ applicationId, instanceId }])).toEqual([
      {
        name: 'Rota',
        instanceName: 'Brackwater',
        signInUrl: `https://rota.example.com/sign-in?${query}#top`,
      },
    ]);
  });

  test('by name alone where the application does not say where', async () => {
    const { signOn, applicationId, here } = await browserRig(under);
    expect(await applicationsAt(signOn, [{ applicationId, instanceId: here.instanceId }])).toEqual([
      { name: 'Brightledger Portal', instanceName: 'Harborlight', signInUrl: undefined },
    ]);
  });
});

describe('nothing is said of', () => {
  const shown = async (spoil: (rig: Awaited<ReturnType<typeof browserRig>>) => Promise<unknown>) => {
    const rig = await browserRig(under);
    await spoil(rig);
    const { applicationId, here } = rig;
    return applicationsAt(rig.signOn, [{ applicationId, instanceId: here.instanceId }]);
  };

  test('a disabled application', async () => {
    const disable = ({ operate, applicationId }: Awaited<ReturnType<typeof browserRig>>) =>
      operate((changes) => setApplicationEnabled(changes, applicationId, false));
    expect(await shown(disable)).toEqual([]);
  });

  test('an instance to which the application does not return', async () => {
    const remove = ({ operate, applicationId }: Awaited<ReturnType<typeof browserRig>>) =>
      operate((changes) => removeRedirectUri(changes, { applicationId, uri: CALLBACK }));
    expect(await shown(remove)).toEqual([]);
  });

  test('unknown ids, and more pairs than a page shows', async () => {
    const { signOn, applicationId, here } = await browserRig(under);
    const known = { applicationId, instanceId: here.instanceId };
    const unknown = [
      { applicationId: 'app_unknown', instanceId: here.instanceId },
      { applicationId, instanceId: 'ins_unknown' },
    ];
    expect(await applicationsAt(signOn, [...unknown, known])).toHaveLength(1);
    const many = Array.from({ length: MAX_ENTRANCES + 1 }, () => known);
    expect(await applicationsAt(signOn, many)).toHaveLength(MAX_ENTRANCES);
  });
});
