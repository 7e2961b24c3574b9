import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as client from 'openid-client';
import { CallerRole } from '../../generated/proto/integration/operator/v1/service_tokens.js';
import { PasswordLinkPurpose } from '../../generated/proto/integration/platform/v1/accounts.js';
import { DeliveryStatus } from '../../generated/proto/integration/webhooks/v1/deliveries.js';
import { newApiKey } from '../../src/identifiers/api-key.js';
import { newServiceToken } from '../../src/identifiers/service-token.js';
import { integration } from '../cli/typed.js';
import { Planted } from '../support/planted.js';
import { type ServiceProcess, serviceProcesses } from '../support/service-process.js';
import { describeWith } from '../support/toolchains.js';
import { answerWith, atFirst, webhookReceivers } from '../support/webhooks/receiver.js';
import { clientIds } from './sign-on/demo-environment.js';
import { call } from './sign-on/environment.js';
import { WebhookEnvironment } from './webhooks/webhook-environment.js';

const services = serviceProcesses();
const newReceiver = webhookReceivers();

const WRONG_PASSWORD = 'wrong canary in the mine';
const PATH_OF_RECEIVER = 'path-that-only-the-subscriber-knows';
const QUERY_OF_RECEIVER = 'query-that-only-the-subscriber-knows';
const ANSWER_OF_RECEIVER = 'what-the-receiver-answered-is-not-for-the-log';

/** sign-on/silence.test.ts has more tests of sign-on. */
describeWith('temporal', 'secrets of sign-in, gateway, operators and webhooks', (executable) => {
  /** Allowed in no file and no output, in no form. */
  const secrets = new Planted();
  /** Allowed only in the database and its backups. */
  const personal = new Planted();
  let demo: WebhookEnvironment;
  let service: ServiceProcess;
  let subscriptionId: string;
  let accountId: string;
  /** Of the delivery that is retried. */
  let eventId: string;
  /** Bodies and headers of refusals. */
  const refusals: string[] = [];

  async function refused(url: string, init?: RequestInit): Promise<void> {
    const response = await fetch(url, init);
    expect(response.status).toBeGreaterThanOrEqual(400);
    refusals.push(JSON.stringify([...response.headers]), await response.text());
  }

  beforeAll(async () => {
    const directory = services.newDirectory();
    symlinkSync(executable, join(directory, 'temporal'));
    service = await services.start({
      env: {
        PATH: `${directory}:${process.env.PATH}`,
        TEMPORAL_ADDRESS: undefined,
        WEBHOOK_RETRY_DELAYS: '1s,1s',
      },
    });
    demo = new WebhookEnvironment(service, newReceiver);
    await service.joinedTemporal();
    const { operatorToken, platformToken } = service.demo();
    secrets.keep({ operatorToken, platformToken });
    await ofOperators();
    await ofGateway();
    await ofSignIn();
    await ofWebhooks();
  });

  afterAll(() => demo?.close());

  async function ofOperators(): Promise<void> {
    const { token, serviceToken } = await demo.operator.createServiceToken(
      { role: CallerRole.SUPPORT, label: 'planted' },
      call(),
    );
    const rotated = await demo.operator.rotateServiceToken(
      { serviceTokenId: serviceToken?.id ?? '' },
      call(),
    );
    const unknownToken = newServiceToken('operator', 'demo');
    secrets.keep({ serviceToken: token, rotatedToken: rotated.token, unknownToken });
    const settings = { ENVIRONMENT: 'demo', GRPC_PORT: service.settings.GRPC_PORT as string };
    const { code, stderr } = await integration(['integration', 'list'], {
      ...settings,
      INTEGRATION_TOKEN: unknownToken,
    });
    expect(code).toBe(1);
    refusals.push(stderr);
  }

  async function ofGateway(): Promise<void> {
    const [{ id: integrationId = '' } = {}] = (
      await demo.operator.listIntegrations({ pageSize: 10, pageToken: '' }, call())
    ).integrations;
    const { key } = await demo.operator.createApiKey({ integrationId, label: 'planted' }, call());
    const [unknownKey, keyInPath, keyInQuery] = [newApiKey('demo'), newApiKey('demo'), newApiKey('demo')];
    secrets.keep({ key, unknownKey, keyInPath, keyInQuery });
    const path = `${service.gatewayUrl}/v1/instance-integrations`;
    const accepted = await fetch(path, { headers: { 'x-api-key': key } });
    expect(accepted.status).toBe(200);
    await refused(path, { headers: { 'x-api-key': unknownKey } });
    await refused(path, { headers: { authorization: `Bearer ${unknownKey}` } });
    await refused(`${path}/${keyInPath}`, { headers: { 'x-api-key': key } });
    await refused(`${path}?x-api-key=${keyInQuery}`);
  }

  async function ofSignIn(): Promise<void> {
    const person = await demo.newPerson({ user: [clientIds.tallowfern] });
    const { email, password } = person;
    accountId = person.accountId;
    const application = await demo.newDemoApplication({ firstParty: true });
    const party = await demo.party(application);
    const browser = demo.browser();
    const page = await party.pageOf(browser);
    const again = await browser.press(page, 'sign-in', { email, password: WRONG_PASSWORD });
    refusals.push(again.text);
    const tried = await party.tryToSignIn(browser, { email, password });
    const tokens = await party.exchange(tried);
    const { refresh_token: refreshToken = '' } = tokens;
    const refreshed = await client.refreshTokenGrant(party.config, refreshToken);
    demo.markVerified(person);
    const link = await demo.platform.createPasswordLink(
      { accountId, purpose: PasswordLinkPurpose.RESET },
      call(),
    );
    secrets.keep({
      password,
      wrongPassword: WRONG_PASSWORD,
      clientSecret: application.clientSecret,
      code: tried.returned.searchParams.get('code') ?? undefined,
      codeVerifier: tried.kept.pkceCodeVerifier,
      accessToken: tokens.access_token,
      idToken: tokens.id_token,
      refreshToken,
      secondAccessToken: refreshed.access_token,
      secondRefreshToken: refreshed.refresh_token,
      passwordLink: new URL(link.url).searchParams.get('token') ?? undefined,
      session: [...browser.cookies.values()][0],
    });
    personal.keep({ email });
    await refused(`${service.signOnUrl}/auth/userinfo`, {
      headers: { authorization: `Bearer ${refreshToken}` },
    });
    await refused(`${service.signOnUrl}/auth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        refresh_token: refreshToken,
        client_id: 'none',
      }),
    });
  }

  /** Temporal has the retry of a delivery that fails once. */
  async function ofWebhooks(): Promise<void> {
    const receiver = await newReceiver(atFirst(1, answerWith(500, {}, ANSWER_OF_RECEIVER)));
    const url = `${receiver.url}/${PATH_OF_RECEIVER}?token=${QUERY_OF_RECEIVER}`;
    const { subscription, secret } = await demo.subscribeAddress(url, { eventTypes: ['user.created'] });
    subscriptionId = subscription.id;
    const rotated = await demo.webhooks.rotateSubscriptionSecret({ subscriptionId }, call());
    secrets.keep({ webhookSecret: secret, secondWebhookSecret: rotated.secret });
    personal.keep({
      pathOfReceiver: PATH_OF_RECEIVER,
      queryOfReceiver: QUERY_OF_RECEIVER,
      answerOfReceiver: ANSWER_OF_RECEIVER,
    });
    const { email } = await demo.newPerson({ user: [clientIds.tallowfern], invited: true });
    personal.keep({ emailInEvent: email });
    ({ eventId } = await receiver.next());
    const { delivery } = await demo.ended({ subscription }, eventId);
    expect(delivery).toMatchObject({ status: DeliveryStatus.DELIVERED, attemptsBegun: 2 });
    expect(delivery?.retryWorkflowId).toContain(subscriptionId);
  }

  const filesOf = (folder: string, start: string) =>
    readdirSync(folder)
      .filter((file) => file.startsWith(start))
      .map((file) => readFileSync(join(folder, file), 'latin1'))
      .join('\n');

  test('are found where they must be', () => {
    for (const planted of [secrets, personal]) {
      expect(planted.seenIn(planted.text)).toEqual(planted.names);
      expect(planted.seenIn(Buffer.from(planted.text).toString('base64'))).toContain(planted.names[0]);
    }
    expect([secrets.names.length, personal.names.length]).toEqual([23, 5]);
  });

  test('are in no log line, with LOG_LEVEL=debug, and neither are personal data', async () => {
    await service.output.nextLine(
      ({ msg, attempt, ...line }) => msg === 'webhook attempt' && attempt === 2 && line.eventId === eventId,
    );
    await service.logged();
    const log = service.output.text();
    expect(log).toContain(subscriptionId);
    expect([...secrets.seenIn(log), ...personal.seenIn(log)]).toEqual([]);
    // A demo prints its tokens for people at its start.
    const printed = service.errors.text();
    expect(secrets.seenIn(printed)).toEqual(['operatorToken', 'platformToken']);
    expect(personal.seenIn(printed)).toEqual([]);
  });

  test('are in no refusal that the service answers', () => {
    expect(refusals.length).toBeGreaterThan(12);
    expect(secrets.seenIn(refusals.join('\n'))).toEqual([]);
  });

  test('are in no metric and no health report, and neither are personal data', async () => {
    const paths = ['/metrics', '/readyz', '/livez'];
    const answers = await Promise.all(paths.map(async (path) => (await fetch(service.opsUrl + path)).text()));
    expect(answers[0]).toContain('webhook_');
    expect([...secrets.seenIn(answers.join('\n')), ...personal.seenIn(answers.join('\n'))]).toEqual([]);
  });

  test('are in no file of the database', () => {
    const content = filesOf(service.dataDir, 'integration.db');
    expect(content).toContain(accountId);
    expect(personal.seenIn(content).sort()).toEqual([...personal.names].sort());
    expect(secrets.seenIn(content)).toEqual([]);
  });

  test('are in no file of a backup', async () => {
    const folder = join(services.newDirectory(), 'backup');
    const settings = { ENVIRONMENT: 'demo', DATA_DIR: service.dataDir };
    const { code, stdout, stderr } = await integration(['backup', folder], settings);
    expect([code, stderr]).toEqual([0, '']);
    const content = `${filesOf(folder, '')}${stdout}`;
    expect(content).toContain(accountId);
    expect(secrets.seenIn(content)).toEqual([]);
  });

  test('are not in the database of Temporal, and neither are personal data', () => {
    const content = filesOf(service.dataDir, 'temporal.db');
    expect(content).toContain(subscriptionId);
    expect(content).toContain('http://127.0.0.1:');
    expect([...secrets.seenIn(content), ...personal.seenIn(content)]).toEqual([]);
  });
});
