import { beforeAll, describe, expect, test } from '@jest/globals';
import { exchange } from '../../../support/http-exchange.js';
import { type ServiceProcess, serviceProcesses } from '../../../support/service-process.js';
import { untilAnswered } from '../../../support/turned-away.js';
import { integration, sharedIntegration, type Typed } from '../../typed.js';

const services = serviceProcesses();

describe('an operator', () => {
  let service: ServiceProcess;

  const type = (...args: string[]): Promise<Typed> =>
    sharedIntegration(args, { ENVIRONMENT: 'demo', DATA_DIR: service.dataDir });

  async function json<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await type(...args, '--json');
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as T;
  }

  const read = (key: string) =>
    untilAnswered(() =>
      exchange(Number(service.settings.GATEWAY_PORT), '/v1/instance-integrations', {
        headers: { 'x-api-key': key },
      }),
    );
  const statusWith = async (key: string) => (await read(key)).status;

  async function connectedIntegration(name: string) {
    const { integration: made } = await json<{ integration: { id: string } }>('integration', 'create', name);
    const { instance } = await json<{ instance: { id: string } }>('instance', 'create', `${name} GmbH`);
    const { instanceIntegration } = await json<{ instanceIntegration: { id: string; status: string } }>(
      'integration',
      'connect',
      made.id,
      instance.id,
      '--configure',
    );
    return { integrationId: made.id, instanceId: instance.id, connection: instanceIntegration };
  }

  beforeAll(async () => {
    service = await services.start();
  });

  test('creates an integration, connects it, gives it a key, rotates and revokes that', async () => {
    const { integrationId, connection } = await connectedIntegration('Rotaform');
    expect(connection.status).toBe('INSTANCE_INTEGRATION_STATUS_CONFIGURED');
    const issued = await json<{ apiKey: { id: string }; key: string }>(
      'key',
      'create',
      integrationId,
      '--label',
      'Nightly',
      '--expires',
      '90d',
    );
    expect(JSON.parse((await read(issued.key)).body)).toMatchObject([
      { id: connection.id, applicationInstance: { instanceName: 'Rotaform GmbH' } },
    ]);

    const next = await json<{ key: string; apiKey: { id: string; expiresAt: string } }>(
      'key',
      'rotate',
      issued.apiKey.id,
      '--overlap',
      '1h',
    );
    const again = await json<{ apiKey: { expiresAt: string } }>('key', 'rotate', issued.apiKey.id);
    for (const { apiKey } of [next, again]) {
      const lastsMs = Date.parse(apiKey.expiresAt) - Date.now();
      expect(Math.round(lastsMs / 86_400_000)).toBe(90);
    }
    const third = await json<{ apiKey: { expiresAt?: string } }>(
      'key',
      'rotate',
      next.apiKey.id,
      '--never-expires',
    );
    expect(third.apiKey.expiresAt).toBeUndefined();
    await expect(Promise.all([issued.key, next.key].map(statusWith))).resolves.toEqual([200, 200]);
    await json('key', 'revoke', issued.apiKey.id, '--yes');
    await expect(Promise.all([issued.key, next.key].map(statusWith))).resolves.toEqual([401, 200]);
  });

  test('rotates a key that ends at the latest possible time, in the year 9999', async () => {
    const { integrationId } = await connectedIntegration('Unending');
    const end = '9999-12-31T23:59:59.999Z';
    type Issued = { apiKey: { id: string; expiresAt: string } };
    const args = ['--label', 'Nightly', '--expires', end];
    const { apiKey } = await json<Issued>('key', 'create', integrationId, ...args);
    const next = await json<Issued>('key', 'rotate', apiKey.id);
    expect(next.apiKey.expiresAt).toBe(end);
  });

  test('sees a secret in the answer that makes it and never again', async () => {
    const { integrationId } = await connectedIntegration('Canary');
    const made = await type('key', 'create', integrationId, '--label', 'Nightly');
    const [key = ''] = /ik_demo_\w{56}/.exec(made.stdout) ?? [];
    await expect(statusWith(key)).resolves.toBe(200);
    for (const args of [
      ['key', 'list'],
      ['key', 'list', '--json'],
      ['audit', 'list', '--json'],
    ]) {
      const { stdout } = await type(...args);
      expect(stdout).toContain(integrationId);
      expect(stdout).not.toContain(key);
    }
    await service.logged();
    expect(service.output.text() + service.errors.text()).not.toContain(key);
  });

  test('reads a table with a heading and a line for each, and what scripts read is an array of the same', async () => {
    const { integrationId } = await connectedIntegration('Tabular');
    await json('key', 'create', integrationId, '--label', 'One');
    await json('key', 'create', integrationId, '--label', 'Two');
    const { stdout } = await type('key', 'list', integrationId);
    expect(stdout).toMatch(
      /^KEY +INTEGRATION +LABEL +BEGINS WITH +STATUS +EXPIRES +LAST USED\n(key_.*\n){2}$/,
    );
    const rows = await json<object[]>('key', 'list', integrationId);
    expect(rows).toEqual([
      expect.objectContaining({ label: 'Two', status: 'KEY_STATUS_ACTIVE', integrationId }),
      expect.objectContaining({ label: 'One' }),
    ]);
    expect((await type('key', 'list', integrationId, '--limit', '1')).stderr).toContain('raise --limit');
  });

  test('is told of a list that what it would belong to does not exist, and not that there are none', async () => {
    const { integration: idle } = await json<{ integration: { id: string } }>(
      'integration',
      'create',
      'Idle',
    );
    const { instance } = await json<{ instance: { id: string } }>('instance', 'create', 'Idle GmbH');
    const { connection } = await connectedIntegration('Quiet');
    for (const [code, ...args] of [
      ['integration_not_found', 'key', 'list', idle.id],
      ['integration_not_found', 'integration', 'connections', idle.id],
      ['instance_not_found', 'integration', 'connections', '--instance', instance.id],
      ['instance_not_found', 'app', 'list', '--instance', instance.id],
      ['instance_not_found', 'client', 'list', '--instance', instance.id],
      ['instance_integration_not_found', 'subscription', 'list', '--instance-integration', connection.id],
    ]) {
      expect(await type(...args)).toEqual({ code: 0, stdout: 'There are none.\n', stderr: '' });
      const unknown = `${args.at(-1)?.slice(0, 4)}${'0'.repeat(22)}`;
      const { stdout, stderr, ...ended } = await type(...args.slice(0, -1), unknown);
      expect([ended.code, stdout, stderr]).toEqual([1, '', expect.stringContaining(`(${code})`)]);
    }
  });

  test('onboards an integration in one step, with secrets that work', async () => {
    const { instanceId } = await connectedIntegration('Onboarding');
    const made = await json<Record<string, string>>(
      'onboard',
      'Brightform',
      ...['--instance', instanceId, '--key-expires', '90d'],
      ...['--redirect-uri', 'https://brightform.example.com/callback'],
      ...['--webhook-url', 'http://localhost:3000/events', '--events', 'user.*'],
    );
    expect(made).toMatchObject({
      clientSecret: expect.stringMatching(/^cs_demo_\w{48}$/),
      signingSecret: expect.stringMatching(/^whsec_/),
    });
    expect(JSON.parse((await read(made.apiKey ?? '')).body)).toMatchObject([
      { id: made.instanceIntegrationId, applicationInstance: { instanceName: 'Onboarding GmbH' } },
    ]);
    const { application } = await json<{ application: object }>('app', 'show', made.clientId ?? '');
    expect(application).toMatchObject({
      name: 'Brightform',
      redirectUris: [{ uri: 'https://brightform.example.com/callback', instanceId }],
    });
    const { subscription } = await json<{ subscription: object }>(
      'subscription',
      'show',
      made.subscriptionId ?? '',
    );
    expect(subscription).toMatchObject({
      instanceIntegrationId: made.instanceIntegrationId,
      eventTypes: ['user.*'],
    });
  });

  test('onboards as far as it is allowed, and learns what was made and what was refused', async () => {
    const { instanceId } = await connectedIntegration('Half');
    const options = ['--instance', instanceId, '--webhook-url', 'http://10.0.0.7/events'];
    const { code, stdout, stderr } = await type('onboard', 'Half a form', ...options);
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/^Integration +itg_\w+\nInstance integration +iin_\w+\n$/),
    ]);
    expect(stderr).toMatch(/\(webhook_url_refused\)[\s\S]*were made before the failure and remain/);
  });

  test('onboards nothing with a redirect URI that is refused, or on an instance that does not exist', async () => {
    const { instanceId } = await connectedIntegration('None of it');
    const redirect = ['--redirect-uri', 'http://rota.example.com/cb'];
    const wrong = await type('onboard', 'Nothing made', '--instance', instanceId, ...redirect);
    expect([wrong.code, wrong.stdout]).toEqual([1, '']);
    expect(wrong.stderr).toMatch(/\(invalid_request\)\s+- redirectUris\[0\]\.uri must be https/);
    const unknown = await type('onboard', 'Nothing made', '--instance', `ins_${'0'.repeat(22)}`);
    expect([unknown.code, unknown.stdout]).toEqual([1, '']);
    expect(unknown.stderr).toContain('(instance_not_found)');
    expect((await type('integration', 'list')).stdout).not.toContain('Nothing made');
  });

  test.each([
    ['--public', '--redirect-uri'],
    ['--events=user.*', '--webhook-url'],
  ])('onboards nothing with %s alone', async (option, missing) => {
    const { code, stderr } = await type('onboard', 'Nothing', '--instance', 'ins_x', option);
    expect([code, stderr]).toEqual([2, expect.stringContaining(missing)]);
  });

  test('registers an application, changes one lifetime and keeps the other, and rotates its secret', async () => {
    const { instanceId } = await connectedIntegration('Signing');
    const uri = `${instanceId}=https://rota.example.com/cb`;
    const created = await json<{ application: { id: string }; clientSecret: string }>(
      'app',
      'create',
      'Rota',
      '--type',
      'confidential',
      '--redirect-uri',
      uri,
      '--access-token-lifetime',
      '15m',
      '--id-token-algorithm',
      'EdDSA',
    );
    const { id } = created.application;
    expect(created.clientSecret).toMatch(/^cs_demo_\w{48}$/);
    const { application } = await json<{ application: object }>(
      'app',
      'update',
      id,
      '--id-token-lifetime',
      '10m',
    );
    expect(application).toMatchObject({
      tokenLifetimes: { accessTokenSeconds: 900, idTokenSeconds: 600 },
      redirectUris: [{ instanceId, uri: 'https://rota.example.com/cb' }],
      requirePkce: true,
    });
    const rotated = await json<{ application: { secrets: unknown[] } }>('app', 'rotate-secret', id);
    expect(rotated.application.secrets).toHaveLength(2);
    const shown = await type('app', 'show', id);
    expect(shown.stdout).toContain('access tokens 900 s');
    expect(shown.stdout).toMatch(/^ID tokens +EdDSA$/m);
    expect(shown.stdout).not.toContain(created.clientSecret);
  });

  test('learns that an application without a redirect URI needs one, beside the answer', async () => {
    const args = ['app', 'create', 'Unreachable', '--type', 'public', '--json'];
    const { code, stdout, stderr } = await type(...args);
    const { application } = JSON.parse(stdout) as { application: { id: string } };
    expect([code, stderr]).toEqual([
      0,
      `Add a redirect URI before people sign in: integration app add-redirect-uri ${application.id} ins_…=https://…\n`,
    ]);
  });

  test('gives an integration a contact, changes it, and removes it', async () => {
    const contactOf = async (...args: string[]) =>
      (await json<{ integration: { id: string; contactHint?: string } }>('integration', ...args)).integration;
    const { id, contactHint } = await contactOf('create', 'Contacts', '--contact-email', 'ada@example.com');
    expect(contactHint).toBe('a…@example.com');
    const changed = await contactOf('update', id, '--contact-email', 'ops@example.com');
    expect(changed).toMatchObject({ name: 'Contacts', contactHint: 'o…@example.com' });
    expect((await contactOf('update', id, '--contact-email', '')).contactHint).toBeFalsy();
  });

  test('sees what expires within a time, the soonest first, and nothing that does not', async () => {
    const { integrationId, instanceId } = await connectedIntegration('Expiring');
    const keyOf = (...args: string[]) =>
      json<{ apiKey: { id: string } }>('key', 'create', integrationId, '--label', 'Ends', ...args);
    const late = await keyOf('--expires', '20d');
    const soon = await keyOf('--expires', '10d');
    await keyOf('--expires', '90d');
    await keyOf();
    const revoked = await keyOf('--expires', '5d');
    await json('key', 'revoke', revoked.apiKey.id, '--yes');
    const { application } = await json<{ application: { id: string; secrets: { id: string }[] } }>(
      'app',
      'create',
      'Rota',
      '--type',
      'confidential',
      '--redirect-uri',
      `${instanceId}=https://rota.example.com/expiring`,
    );
    await json('app', 'rotate-secret', application.id, '--overlap', '24h');
    const rows = await json<{ id: string; of: string; kind: string }[]>('expiring');
    const ours = rows.filter(({ of }) => [integrationId, application.id].includes(of));
    expect(ours.map(({ kind, id }) => [kind, id])).toEqual([
      ['client secret', application.secrets[0]?.id],
      ['API key', soon.apiKey.id],
      ['API key', late.apiKey.id],
    ]);
    const { stdout } = await type('expiring', '--within', '15d');
    expect(stdout).toMatch(/^EXPIRES +KIND +ID +OF +LABEL +LAST USED\n/);
    expect(stdout).toContain(soon.apiKey.id);
    expect(stdout).not.toContain(late.apiKey.id);
  });

  test('learns of every fault, in sentences, with exit code 1', async () => {
    const { instanceId } = await connectedIntegration('Faulty');
    const uris = ['http://rota.example.com', 'https://rota.example.com/#'].flatMap((uri) => [
      '--redirect-uri',
      `${instanceId}=${uri}`,
    ]);
    const { code, stdout, stderr } = await type('app', 'create', 'Rota', '--type', 'public', ...uris);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /\(invalid_request\)\n {2}- redirectUris\[0\]\.uri .*\n {2}- redirectUris\[1\]\.uri .*\n$/,
    );
  });

  test('who changed what is in the audit log, and the last operator token stays', async () => {
    const [token] = (await json<{ id: string; role: string }[]>('token', 'list')).filter(
      ({ role }) => role === 'CALLER_ROLE_OPERATOR',
    );
    const { integrationId } = await connectedIntegration('Audited');
    const events = await json<object[]>('audit', 'list', '--about', integrationId);
    expect(events).toEqual([
      expect.objectContaining({
        type: 'integration.created',
        actor: { type: 'service_token', id: token?.id },
        remoteAddress: '127.0.0.1',
      }),
    ]);
    const { code, stderr } = await type('token', 'revoke', token?.id ?? '', '--yes');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/last operator token/)]);
  });

  test.each([
    ['an id that nothing has any more', ['audit', 'list', '--about', `cli_${'0'.repeat(22)}`]],
    ['a signing key whose name begins like an id', ['audit', 'list', '--about', `abc_${'0'.repeat(39)}`]],
    ['a party that has no id', ['audit', 'list', '--about', 'signing-key-rotation', '--until', '2020-01-01']],
    [
      'the deliveries to a subscription that may be gone',
      ['delivery', 'list', '--subscription', `whs_${'0'.repeat(22)}`],
    ],
  ])('a list is empty for %s', async (_, args) => {
    expect(await type(...args)).toEqual({ code: 0, stdout: 'There are none.\n', stderr: '' });
  });

  test.each([
    ['key revoke', ['key', 'revoke', 'key_x']],
    ['key rotate without an overlap', ['key', 'rotate', 'key_x', '--overlap', '0']],
    ['token revoke', ['token', 'revoke', 'tok_x']],
    ['integration disconnect', ['integration', 'disconnect', 'iin_x']],
    ['app revoke-secret', ['app', 'revoke-secret', 'app_x', 'sec_x']],
    ['app rotate-secret without an overlap', ['app', 'rotate-secret', 'app_x', '--overlap', '0']],
  ])('%s without --yes is refused where there is no terminal', async (_, args) => {
    const { code, stdout, stderr } = await type(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^This cannot be undone, .* Confirm it with --yes\.\n$/);
  });

  test.each([
    ['key update', ['key', 'update', 'key_x']],
    ['app update', ['app', 'update', 'app_x']],
  ])('%s with nothing to change is wrong usage', async (_, args) => {
    const { code, stderr } = await type(...args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^Say what to change/)]);
  });

  test('gives address and token in the environment as well', async () => {
    const { operatorToken, platformToken, grpcAddress } = service.demo();
    const settings = { INTEGRATION_ADDRESS: grpcAddress, DATA_DIR: services.newDirectory() };
    const asOperator = await integration(['app', 'list'], { ...settings, INTEGRATION_TOKEN: operatorToken });
    expect(asOperator.code).toBe(0);
    const asPlatform = await integration(['app', 'list'], { ...settings, INTEGRATION_TOKEN: platformToken });
    expect([asPlatform.code, asPlatform.stderr]).toEqual([
      1,
      expect.stringMatching(/\(caller_not_allowed\)/),
    ]);
  });
});
