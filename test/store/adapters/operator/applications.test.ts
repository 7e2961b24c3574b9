import { expect, test } from '@jest/globals';
import type { InstanceId } from '../../../../generated/ids.js';
import { NO_LINKS } from '../../../../src/domain/operator/application-rules.js';
import {
  type ApplicationCreation,
  addRedirectUri,
  createApplication,
  removeRedirectUri,
  revokeSecret,
  rotateSecret,
  setApplicationEnabled,
  updateApplication,
} from '../../../../src/domain/operator/applications.js';
import { hashSecret } from '../../../../src/identifiers/random-secrets.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { plantSilentTrigger } from '../../../support/planted-triggers.js';
import { everythingIn, operatorRig, refusal } from './rig.js';

const CALLBACK = 'https://rota.example.com/callback';

describeEachDatabase('applications', (under) => {
  async function rigWith(creation: Partial<ApplicationCreation> = {}) {
    const rig = await operatorRig(under);
    const instanceId = await rig.newInstance();
    const create = (more: Partial<ApplicationCreation>) =>
      rig.run((changes) =>
        createApplication(changes, 'demo', {
          name: 'Rota',
          type: 'confidential',
          redirectUris: [{ uri: CALLBACK, instanceId }],
          firstParty: false,
          ...more,
        }),
      );
    const hashes = async () =>
      (await rig.database.reader.selectFrom('application_secrets').select('hash').execute()).map(
        ({ hash }) => hash,
      );
    return { ...rig, instanceId, create, hashes, ...(await create(creation)) };
  }

  test('one keeps the addresses that people see of it, and has none by default', async () => {
    const links = { logoUri: 'http://localhost:8400/logo.svg', tosUri: 'https://rota.example.com/terms' };
    const { application, rows, create } = await rigWith(links);
    expect(await rows.applications.find(application.id)).toMatchObject({ ...NO_LINKS, ...links });
    const other = (await create({})).application;
    expect(await rows.applications.find(other.id)).toMatchObject(NO_LINKS);
  });

  test('an address that people see is one of the web, over https but in demo', async () => {
    const { application, run, create } = await rigWith();
    const refused = {
      logoUri: 'javascript:alert(1)',
      policyUri: 'https://a:b@example.com',
      tosUri: '/terms',
    };
    const paths = ['logo_uri', 'policy_uri', 'tos_uri'];
    expect((await refusal(create(refused))).paths).toEqual(paths);
    const update = (environment: 'live' | 'demo', tosUri: string) =>
      run((changes) => updateApplication(changes, { applicationId: application.id, tosUri }, environment));
    expect((await refusal(update('live', 'http://example.com/terms'))).paths).toEqual(['tos_uri']);
    expect((await update('demo', 'http://example.com/terms')).tosUri).toBe('http://example.com/terms');
  });

  test('a confidential one gets every default, and a secret of which the hash is stored', async () => {
    const { application, clientSecret = '', rows, database, hashes } = await rigWith();
    expect(application).toMatchObject({
      enabled: true,
      allowedScopes: ['openid', 'profile', 'email'],
      allowedGrantTypes: ['authorization_code', 'refresh_token'],
      requirePkce: true,
      idTokenAlgorithm: 'RS256',
      tokenLifetimes: {
        accessTokenSeconds: null,
        refreshTokenSeconds: null,
        idTokenSeconds: null,
        refreshFamilySeconds: null,
      },
    });
    await expect(rows.applications.find(application.id)).resolves.toEqual(application);
    expect(clientSecret).toMatch(/^cs_demo_\w{48}$/);
    await expect(hashes()).resolves.toEqual([hashSecret(clientSecret).toString('base64url')]);
    await expect(everythingIn(database)).resolves.not.toContain(clientSecret.slice(8));
  });

  test('a public one has no secret, and nothing to rotate', async () => {
    const { application, clientSecret, run } = await rigWith({ type: 'public' });
    expect([clientSecret, application.secrets]).toEqual([undefined, []]);
    await expect(
      refusal(run((changes) => rotateSecret(changes, 'demo', { applicationId: application.id }))),
    ).resolves.toMatchObject({ code: 'TRANSITION_REFUSED' });
  });

  test('every fault of a registration is named at once, and nothing is stored', async () => {
    const { create, database, instanceId } = await rigWith();
    const before = await everythingIn(database);
    const uri = (text: string) => ({ uri: text, instanceId });
    const creation: Partial<ApplicationCreation> = {
      name: '',
      type: 'public',
      requirePkce: false,
      allowedScopes: ['openid', 'admin'],
      allowedGrantTypes: ['refresh_token'],
      tokenLifetimes: { accessTokenSeconds: 1, refreshFamilySeconds: 5 * 365 * 86_400 + 1 },
      postLogoutRedirectUris: ['http://rota.example.com'],
      redirectUris: [uri(CALLBACK), uri(CALLBACK), uri(`${CALLBACK}#x`)],
    };
    await expect(refusal(create(creation))).resolves.toEqual({
      code: 'INVALID_REQUEST',
      paths: [
        'name',
        'allowed_scopes[1]',
        'allowed_grant_types',
        'require_pkce',
        'token_lifetimes.access_token_seconds',
        'token_lifetimes.refresh_family_seconds',
        'post_logout_redirect_uris[0]',
        'redirect_uris[1].uri',
        'redirect_uris[2].uri',
      ],
    });
    const nowhere = { redirectUris: [{ uri: CALLBACK, instanceId: 'ins_unknown' as InstanceId }] };
    await expect(refusal(create(nowhere))).resolves.toEqual({
      code: 'INSTANCE_NOT_FOUND',
      paths: ['redirect_uris[0].instance_id'],
    });
    await expect(everythingIn(database)).resolves.toBe(before);
  });

  test('an update writes what is named and keeps the rest', async () => {
    const { application, run, rows, clock } = await rigWith({ tokenLifetimes: { accessTokenSeconds: 900 } });
    clock.advance(1);
    const changed = await run((changes) =>
      updateApplication(changes, {
        applicationId: application.id,
        allowedScopes: ['email', 'openid'],
        requirePkce: false,
        idTokenAlgorithm: 'EdDSA',
        updateMask: ['allowed_scopes', 'require_pkce', 'id_token_algorithm', 'token_lifetimes'],
      }),
    );
    expect(changed).toEqual({
      ...application,
      allowedScopes: ['openid', 'email'],
      requirePkce: false,
      idTokenAlgorithm: 'EdDSA',
      tokenLifetimes: {
        accessTokenSeconds: null,
        refreshTokenSeconds: null,
        idTokenSeconds: null,
        refreshFamilySeconds: null,
      },
      version: changed.version,
      updatedAt: clock.now(),
    });
    await expect(rows.applications.find(application.id)).resolves.toEqual(changed);
  });

  test('what changes nothing leaves no trace', async () => {
    const { application, run, database, instanceId } = await rigWith();
    const before = await everythingIn(database);
    const applicationId = application.id;
    await run((changes) => updateApplication(changes, { applicationId, name: 'Rota', allowedScopes: [] }));
    await run((changes) => setApplicationEnabled(changes, applicationId, true));
    await run((changes) => addRedirectUri(changes, applicationId, { uri: CALLBACK, instanceId }));
    // The lock of a subject may make its row of data versions; everything else is as it was.
    const withoutLocks = (text: string) => JSON.stringify(JSON.parse(text).slice(0, -1));
    expect(withoutLocks(await everythingIn(database))).toBe(withoutLocks(before));
  });

  test('a disabled one stays registered and can be enabled again', async () => {
    const { application, run, rows, audited } = await rigWith();
    await run((changes) => setApplicationEnabled(changes, application.id, false));
    await expect(rows.applications.find(application.id)).resolves.toMatchObject({ enabled: false });
    await run((changes) => setApplicationEnabled(changes, application.id, true));
    await expect(rows.applications.find(application.id)).resolves.toMatchObject({ enabled: true });
    expect((await audited()).sort()).toEqual([
      'application.created',
      'application.disabled',
      'application.enabled',
    ]);
  });

  test('an address of an application belongs to one instance, and to others only when it is removed', async () => {
    const { application, run, newInstance, instanceId, rows } = await rigWith();
    const elsewhere = { uri: CALLBACK, instanceId: await newInstance('Juniper') };
    const applicationId = application.id;
    const add = () => run((changes) => addRedirectUri(changes, applicationId, elsewhere));

    await expect(refusal(add())).resolves.toEqual({ code: 'ALREADY_EXISTS', paths: ['redirect_uri.uri'] });
    const idsAt = async (id: string) =>
      (await rows.applications.page({ after: undefined, limit: 9 }, id)).map((found) => found.id);
    await expect(idsAt(elsewhere.instanceId)).resolves.toEqual([]);
    await run((changes) => removeRedirectUri(changes, { applicationId, uri: CALLBACK }));
    await expect(add()).resolves.toMatchObject({ redirectUris: [elsewhere] });
    await expect(idsAt(elsewhere.instanceId)).resolves.toEqual([applicationId]);
    await expect(idsAt(instanceId)).resolves.toEqual([]);
  });

  test('redirect URIs keep the order in which they came', async () => {
    const { application, run, instanceId } = await rigWith();
    const uris = ['https://z.example.com', 'https://a.example.com', 'https://m.example.com'];
    let found = application;
    for (const uri of uris) {
      found = await run((changes) => addRedirectUri(changes, application.id, { uri, instanceId }));
    }
    expect(found.redirectUris.map(({ uri }) => uri)).toEqual([CALLBACK, ...uris]);
    expect(found.version).not.toBe(application.version);
  });

  test('a rotation adds a secret and ends the others after the overlap; what has ended goes with the next', async () => {
    const { application, run, clock, hashes, clientSecret = '' } = await rigWith();
    const applicationId = application.id;
    const first = await run((changes) =>
      rotateSecret(changes, 'demo', { applicationId, overlapSeconds: 60 }),
    );
    expect(first.application.secrets.map(({ expiresAt }) => expiresAt).sort()).toEqual([
      clock.now() + 60_000,
      null,
    ]);
    const hashOf = (secret: string) => hashSecret(secret).toString('base64url');
    expect((await hashes()).sort()).toEqual([hashOf(clientSecret), hashOf(first.clientSecret)].sort());
    clock.advance(60_000);
    const second = await run((changes) => rotateSecret(changes, 'demo', { applicationId }));
    expect((await hashes()).sort()).toEqual([hashOf(first.clientSecret), hashOf(second.clientSecret)].sort());
    await run((changes) => rotateSecret(changes, 'demo', { applicationId, overlapSeconds: 0 }));
    await expect(hashes()).resolves.toHaveLength(1);
  });

  test.each([60_000, 60_001])(
    'a rotation succeeds when the purge removes a secret of 60 s after %i ms',
    async (passedMs) => {
      const { application, run, clock, hashes } = await rigWith();
      const [{ id: ended } = { id: '' }] = application.secrets;
      const rotation = { applicationId: application.id, overlapSeconds: 60 };
      await run((changes) => rotateSecret(changes, 'demo', rotation));
      clock.advance(passedMs);
      await run((changes) => {
        const { applications } = changes;
        const find: typeof applications.find = async (id) => {
          const found = await applications.find(id);
          if (found?.secrets.some((secret) => secret.id === ended)) {
            await applications.deleteSecret(ended);
          }
          return found;
        };
        return rotateSecret({ ...changes, applications: { ...applications, find } }, 'demo', rotation);
      });
      await expect(hashes()).resolves.toHaveLength(2);
    },
  );

  test('a secret is not answered as revoked or ending when a trigger left it as it was', async () => {
    const { database, application, run, audited } = await rigWith();
    const [{ id: secretId } = { id: '' }] = application.secrets;
    const before = await audited();
    const table = 'application_secrets';
    await plantSilentTrigger(database, under.kind, { table, event: 'delete' });
    const wanted = { applicationId: application.id, secretId };
    const kept = `The database did not change ${secretId}`;
    await expect(run((changes) => revokeSecret(changes, wanted))).rejects.toThrow(kept);
    await plantSilentTrigger(database, under.kind, { table, event: 'update' }, 'hush_more');
    const rotation = { applicationId: application.id, overlapSeconds: 60 };
    await expect(run((changes) => rotateSecret(changes, 'demo', rotation))).rejects.toThrow(kept);
    expect(await audited()).toEqual(before);
  });

  test('a revoked secret is gone at once', async () => {
    const { application, run, hashes } = await rigWith();
    const wanted = { applicationId: application.id, secretId: application.secrets[0]?.id ?? '' };
    const { secrets } = await run((changes) => revokeSecret(changes, wanted));
    expect([secrets, await hashes()]).toEqual([[], []]);
    await expect(refusal(run((changes) => revokeSecret(changes, wanted)))).resolves.toMatchObject({
      code: 'APPLICATION_SECRET_NOT_FOUND',
    });
  });
});
