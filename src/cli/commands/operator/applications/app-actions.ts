import {
  type Application,
  ApplicationType,
} from '../../../../../generated/proto/integration/operator/v1/applications.js';
import { SigningAlgorithm } from '../../../../../generated/proto/integration/operator/v1/signing_keys.js';
import { asTime, asWord } from '../../output/table.js';
import { UsageError } from '../../usage-error.js';
import { listed, shownList } from '../listing.js';
import { withSecret } from '../secret.js';
import type { Action, Session } from '../session.js';
import { factsOf, shownApplication } from './app-facts.js';
import { maskOf, type SettingOptions, settingsOf } from './app-settings.js';

export interface CreateOptions extends SettingOptions {
  type: 'confidential' | 'public';
  redirectUri?: readonly { instanceId: string; uri: string }[];
}

export const create: Action<CreateOptions> = async (
  { operator, call },
  [name = ''],
  { type, redirectUri = [], ...options },
) => {
  const settings = settingsOf(options);
  const answer = await operator.createApplication(
    {
      ...settings,
      name,
      type: type === 'public' ? ApplicationType.PUBLIC : ApplicationType.CONFIDENTIAL,
      redirectUris: [...redirectUri],
      firstParty: options.firstParty ?? false,
      signOutEndsTokens: options.signOutEndsTokens ?? false,
      idTokenAlgorithm: settings.idTokenAlgorithm ?? SigningAlgorithm.UNSPECIFIED,
    },
    call,
  );
  const facts = factsOf(answer.application as Application);
  const text = answer.clientSecret ? withSecret(facts, 'The client_secret', answer.clientSecret) : facts;
  return { json: answer, text };
};

export const list: Action<{ instance?: string; limit?: number }> = async (
  { operator, call },
  _,
  { instance, limit },
) => {
  const found = await listed(limit, 'applications', (page) =>
    operator.listApplications({ instanceId: instance, ...page }, call),
  );
  return shownList(found, ['client_id', 'name', 'type', 'status', 'redirect uris', 'created'], (app) => [
    app.id,
    app.name,
    asWord(app.type, 'APPLICATION_TYPE_'),
    asWord(app.status, 'APPLICATION_STATUS_'),
    String(app.redirectUris.length),
    asTime(app.createdAt),
  ]);
};

export const show: Action = async ({ operator, call }, [id = '']) => {
  return shownApplication(await operator.getApplication({ applicationId: id }, call));
};

export interface UpdateOptions extends SettingOptions {
  name?: string;
  defaultLifetimes?: boolean;
  /** False removes all. */
  postLogoutRedirectUris?: boolean;
  expectedVersion?: string;
}

export const update: Action<UpdateOptions> = async (session, [applicationId = ''], options) => {
  const updateMask = updateMaskOf(options);
  if (updateMask.length === 0) {
    throw new UsageError('Say what to change; --help lists what can be.');
  }
  const { name, firstParty, signOutEndsTokens, defaultLifetimes, expectedVersion } = options;
  const settings = settingsOf(options);
  const kept =
    settings.tokenLifetimes && !defaultLifetimes ? await present(session, applicationId) : undefined;
  const tokenLifetimes = defaultLifetimes
    ? settings.tokenLifetimes
    : settings.tokenLifetimes && { ...kept?.tokenLifetimes, ...withoutAbsent(settings.tokenLifetimes) };
  const flags = { firstParty, signOutEndsTokens };
  const request = { ...settings, ...flags, applicationId, name, tokenLifetimes, updateMask };
  // Lifetimes are replaced as a whole, so the version must be the one that was read.
  const version = { expectedVersion: expectedVersion ?? kept?.version };
  return shownApplication(await session.operator.updateApplication({ ...request, ...version }, session.call));
};

export const disable: Action = async ({ operator, call }, [id = '']) => {
  return shownApplication(await operator.disableApplication({ applicationId: id }, call));
};

export const enable: Action = async ({ operator, call }, [id = '']) => {
  return shownApplication(await operator.enableApplication({ applicationId: id }, call));
};

function updateMaskOf(options: UpdateOptions): string[] {
  const mask = new Set(maskOf(options));
  if (options.name !== undefined) {
    mask.add('name');
  }
  if (options.defaultLifetimes) {
    mask.add('token_lifetimes');
  }
  if (options.postLogoutRedirectUris === false) {
    mask.add('post_logout_redirect_uris');
  }
  return [...mask];
}

async function present({ operator, call }: Session, applicationId: string): Promise<Application> {
  return (await operator.getApplication({ applicationId }, call)).application as Application;
}

function withoutAbsent<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}
