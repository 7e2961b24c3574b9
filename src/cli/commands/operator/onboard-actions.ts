import { ApplicationType } from '../../../../generated/proto/integration/operator/v1/applications.js';
import { InstanceIntegrationStatus } from '../../../../generated/proto/integration/operator/v1/connections.js';
import { SigningAlgorithm } from '../../../../generated/proto/integration/operator/v1/signing_keys.js';
import { ServiceError } from '../../../errors/service-error.js';
import { asFacts } from '../output/table.js';
import { Unfinished } from '../unfinished.js';
import { UsageError } from '../usage-error.js';
import { settingsOf } from './applications/app-settings.js';
import type { CommandOptions, Session, Shown } from './session.js';

export interface OnboardOptions extends CommandOptions {
  instance: string;
  keyExpires?: Date;
  redirectUri?: readonly string[];
  public?: boolean;
  webhookUrl?: string;
  events?: readonly string[];
}

/** What was made, with every secret. */
interface Onboarded {
  integrationId?: string;
  instanceIntegrationId?: string;
  apiKeyId?: string;
  apiKey?: string;
  clientId?: string;
  clientSecret?: string;
  subscriptionId?: string;
  signingSecret?: string;
}

type Step = (session: Session, made: Onboarded, name: string, options: OnboardOptions) => Promise<Onboarded>;

/** In the order in which they need each other. */
const STEPS: readonly Step[] = [
  makeIntegration,
  connect,
  configure,
  issueKey,
  registerApplication,
  subscribe,
];

export async function onboard(
  session: Session,
  [name = '']: readonly string[],
  options: OnboardOptions,
): Promise<Shown> {
  if (options.public && !options.redirectUri) {
    throw new UsageError('--public is about an application: give its --redirect-uri too.');
  }
  if (options.events && !options.webhookUrl) {
    throw new UsageError('--events is about a subscription: give its --webhook-url too.');
  }
  let made: Onboarded = {};
  try {
    for (const step of STEPS) {
      made = { ...made, ...(await step(session, made, name, options)) };
    }
  } catch (error) {
    if (made.integrationId === undefined || !(error instanceof ServiceError)) {
      throw error;
    }
    const violations = error.fieldViolations.map(({ path, message }) => `\n  - ${path} ${message}`).join('');
    const failure = new Unfinished(
      `${error.message}${violations}\nThe items above were made before the failure and remain.`,
    );
    return { json: made, text: textOf(made), failure };
  }
  return { json: made, text: textOf(made) };
}

async function makeIntegration({ operator, call }: Session, _: Onboarded, name: string): Promise<Onboarded> {
  const { integration } = await operator.createIntegration({ name }, call);
  return { integrationId: integration?.id ?? '' };
}

async function connect(
  { operator, call }: Session,
  { integrationId = '' }: Onboarded,
  _: string,
  { instance }: OnboardOptions,
): Promise<Onboarded> {
  const { instanceIntegration } = await operator.connectInstance(
    { integrationId, instanceId: instance },
    call,
  );
  return { instanceIntegrationId: instanceIntegration?.id ?? '' };
}

async function configure(
  { operator, call }: Session,
  { instanceIntegrationId = '' }: Onboarded,
): Promise<Onboarded> {
  const status = InstanceIntegrationStatus.CONFIGURED;
  await operator.configureInstanceIntegration({ instanceIntegrationId, status }, call);
  return {};
}

async function issueKey(
  { operator, call }: Session,
  { integrationId = '' }: Onboarded,
  label: string,
  { keyExpires }: OnboardOptions,
): Promise<Onboarded> {
  const { apiKey, key } = await operator.createApiKey({ integrationId, label, expiresAt: keyExpires }, call);
  return { apiKeyId: apiKey?.id ?? '', apiKey: key };
}

async function registerApplication(
  { operator, call }: Session,
  _: Onboarded,
  name: string,
  options: OnboardOptions,
): Promise<Onboarded> {
  if (!options.redirectUri) {
    return {};
  }
  const type = options.public ? ApplicationType.PUBLIC : ApplicationType.CONFIDENTIAL;
  const redirectUris = options.redirectUri.map((uri) => ({ uri, instanceId: options.instance }));
  const answer = await operator.createApplication(
    {
      ...settingsOf({}),
      name,
      type,
      redirectUris,
      firstParty: false,
      signOutEndsTokens: false,
      idTokenAlgorithm: SigningAlgorithm.UNSPECIFIED,
    },
    call,
  );
  const { clientSecret } = answer;
  return { clientId: answer.application?.id ?? '', ...(clientSecret !== undefined && { clientSecret }) };
}

async function subscribe(
  { webhooks, call }: Session,
  { instanceIntegrationId = '' }: Onboarded,
  description: string,
  { webhookUrl, events = ['*'] }: OnboardOptions,
): Promise<Onboarded> {
  if (!webhookUrl) {
    return {};
  }
  const answer = await webhooks.createSubscription(
    { instanceIntegrationId, url: webhookUrl, eventTypes: [...events], clientIds: [], description },
    call,
  );
  return { subscriptionId: answer.subscription?.id ?? '', signingSecret: answer.secret };
}

const NAMES: readonly (readonly [keyof Onboarded, string])[] = [
  ['integrationId', 'Integration'],
  ['instanceIntegrationId', 'Instance integration'],
  ['apiKeyId', 'API key id'],
  ['clientId', 'client_id'],
  ['subscriptionId', 'Subscription'],
];

const SECRETS: readonly (readonly [keyof Onboarded, string])[] = [
  ['apiKey', 'API key'],
  ['clientSecret', 'client_secret'],
  ['signingSecret', 'Signing secret'],
];

function textOf(made: Onboarded): string {
  const rowsOf = (names: typeof NAMES) =>
    names.flatMap(([name, title]): [string, string][] => (made[name] ? [[title, made[name]]] : []));
  const secrets = rowsOf(SECRETS);
  const facts = asFacts(rowsOf(NAMES));
  return secrets.length === 0 ? facts : `${facts}\n\nSecrets, shown only now:\n\n${asFacts(secrets)}\n`;
}
