import type { Command } from 'commander';
import type { InstanceId } from '../../../../generated/ids.js';
import type { ApplicationType } from '../../../../generated/proto/integration/operator/v1/applications.js';
import type { InstanceIntegrationStatus } from '../../../../generated/proto/integration/operator/v1/connections.js';
import { validateRedirectUris } from '../../../domain/operator/application-rules.js';
import { validateExpiry } from '../../../domain/operator/lifetime.js';
import { Violations } from '../../../domain/platform/violations.js';
import { validateSubscription } from '../../../domain/webhooks/subscriptions/rules.js';
import { inJsonNames } from '../../../errors/json-names.js';
import { ServiceError } from '../../../errors/service-error.js';
import { FailedCall, Unfinished, UsageError } from '../errors.js';
import { addTargetOptions, collected, eventPatterns, idOf, TARGET_NOTE, timeAhead } from '../options.js';
import { asEnum, asFacts } from '../output/table.js';
import { PLAIN } from './applications/app-actions.js';
import { examples, runsInSession } from './group.js';
import type { Action, Session } from './session.js';

const NOTES = `
Makes the integration and connects it to the instance; with --webhook-url it makes a subscription, and with
--redirect-uri an application; the API key comes last. The arguments are checked before anything is made; only whether
webhooks may go to the address is decided by the service, before it makes any secret. All secrets are printed once, at
the end. If a step fails, the command prints what the earlier steps made, with secrets, and removes nothing. After a
lost connection, check whether the last step took effect.

${TARGET_NOTE}
`;

export function addOnboardCommand(program: Command): void {
  const command = addTargetOptions(program.command('onboard'))
    .description('Set up an integration with key, application and subscription')
    .argument('<name>', 'name of the integration, and of its application')
    .requiredOption(
      '--instance <instance>',
      'id of the instance to connect it to; `instance list` shows them',
      idOf('ins'),
    )
    .option(
      '--key-expires <when>',
      'when the key ends: a UTC time, or a duration such as 90d; never unless given',
      timeAhead,
    )
    .option('--redirect-uri <uri>', 'where people of that instance return; may be repeated', collected)
    .option('--public', 'register a public application, which has no secret')
    .option('--webhook-url <url>', 'where the service posts the events of this connection')
    .option('--events <types>', 'types, user.* or *, with commas between; all unless given', eventPatterns)
    .option('--json', 'as JSON, for scripts')
    .addHelpText(
      'after',
      NOTES +
        examples(
          'onboard "Brightledger" --instance ins_… --key-expires 365d',
          'onboard "Brightledger" --instance ins_… --redirect-uri https://app.example.com/callback --webhook-url https://hooks.example.com/events',
        ),
    );
  runsInSession(command, onboard);
}

interface OnboardOptions {
  instance: string;
  keyExpires?: Date;
  redirectUri?: readonly string[];
  public?: boolean;
  webhookUrl?: string;
  events?: string[];
}

export const onboard = (async (session, [name], options) => {
  if (options.public && !options.redirectUri) {
    throw new UsageError('--public is about an application: give its --redirect-uri too.');
  }
  if (options.events && !options.webhookUrl) {
    throw new UsageError('--events is about a subscription: give its --webhook-url too.');
  }
  await refuseInvalid(session, options);
  const made: Onboarded = {};
  try {
    await makeAll(session, name, options, made);
  } catch (error) {
    if (made.integrationId === undefined || !(error instanceof ServiceError)) {
      throw error;
    }
    const { message } = new FailedCall(inJsonNames(error), session.address);
    const failure = new Unfinished(`${message}\nThe items above were made before the failure and remain.`);
    return { json: made, text: textOf(made), failure };
  }
  return { json: made, text: textOf(made) };
}) satisfies Action<OnboardOptions, readonly [name: string]>;

/** By the rules of the service: it would refuse these arguments too, but after it has made other things. */
async function refuseInvalid(
  { platform }: Session,
  { instance: instanceId, keyExpires, redirectUri = [], webhookUrl: url, ...options }: OnboardOptions,
): Promise<void> {
  const violations = new Violations();
  const redirectUris = redirectUri.map((uri) => ({ uri, instanceId: instanceId as InstanceId }));
  validateRedirectUris(violations, redirectUris, options.public ? 'public' : 'confidential');
  validateExpiry(violations, keyExpires?.getTime(), Date.now());
  violations.throwIfAny();
  validateSubscription({ url: url ?? null, eventTypes: options.events ?? null });
  await platform.getInstance({ instanceId });
}

/** Each result is noted at once: it is shown even if a later step fails. What may be refused comes first. */
async function makeAll(
  { operator, webhooks }: Session,
  name: string,
  { instance: instanceId, keyExpires: expiresAt, redirectUri, webhookUrl: url, ...options }: OnboardOptions,
  made: Onboarded,
): Promise<void> {
  const { integration } = await operator.createIntegration({ name });
  const integrationId = integration?.id ?? '';
  made.integrationId = integrationId;
  const { instanceIntegration } = await operator.connectInstance({ integrationId, instanceId });
  const instanceIntegrationId = instanceIntegration?.id ?? '';
  made.instanceIntegrationId = instanceIntegrationId;
  const status = asEnum<InstanceIntegrationStatus>('configured', 'INSTANCE_INTEGRATION_STATUS_');
  await operator.configureInstanceIntegration({ instanceIntegrationId, status });
  if (url) {
    const receives = { eventTypes: options.events ?? ['*'], clientIds: [] };
    const request = { instanceIntegrationId, url, ...receives, description: name };
    const { subscription, secret } = await webhooks.createSubscription(request);
    Object.assign(made, { subscriptionId: subscription?.id, signingSecret: secret });
  }
  if (redirectUri) {
    const type = asEnum<ApplicationType>(options.public ? 'public' : 'confidential', 'APPLICATION_TYPE_');
    const redirectUris = redirectUri.map((uri) => ({ uri, instanceId }));
    const answer = await operator.createApplication({ ...PLAIN, name, type, redirectUris });
    Object.assign(made, { clientId: answer.application?.id, clientSecret: answer.clientSecret });
  }
  const { apiKey, key } = await operator.createApiKey({ integrationId, label: name, expiresAt });
  Object.assign(made, { apiKeyId: apiKey?.id, apiKey: key });
}

const NAMES = [
  ['integrationId', 'Integration'],
  ['instanceIntegrationId', 'Instance integration'],
  ['apiKeyId', 'API key id'],
  ['clientId', 'client_id'],
  ['subscriptionId', 'Subscription'],
] as const;

const SECRETS = [
  ['apiKey', 'API key'],
  ['clientSecret', 'client_secret'],
  ['signingSecret', 'Signing secret'],
] as const;

/** What was made, with every secret. */
type Onboarded = { [Name in (typeof NAMES | typeof SECRETS)[number][0]]?: string | undefined };

function textOf(made: Onboarded): string {
  const rowsOf = (names: readonly (readonly [keyof Onboarded, string])[]) =>
    names.flatMap(([name, title]): [string, string][] => (made[name] ? [[title, made[name]]] : []));
  const secrets = rowsOf(SECRETS);
  const facts = asFacts(rowsOf(NAMES));
  return secrets.length === 0 ? facts : `${facts}\n\nSecrets, shown only now:\n\n${asFacts(secrets)}\n`;
}
