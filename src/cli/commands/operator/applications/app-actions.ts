import type {
  Application,
  ApplicationType,
  GrantType,
  TokenLifetimes,
} from '../../../../../generated/proto/integration/operator/v1/applications.js';
import type { SigningAlgorithm } from '../../../../../generated/proto/integration/operator/v1/signing_keys.js';
import { confirmation } from '../../confirm.js';
import { asEnum, asTime, asWord } from '../../output/table.js';
import { algorithmName } from '../keys/signing-key.js';
import type { Action } from '../session.js';
import { CHANGES, type Facts, showing, shownOnce, shownPages, updateMaskOf } from '../showing.js';

const shown = showing('application', {
  Application: ({ id }) => id,
  Name: ({ name }) => name,
  Type: ({ type }) => asWord(type, 'APPLICATION_TYPE_'),
  Status: ({ status }) => asWord(status, 'APPLICATION_STATUS_'),
  Scopes: ({ allowedScopes }) => allowedScopes.join(' '),
  Grants: ({ allowedGrantTypes }) =>
    allowedGrantTypes.map((grant) => asWord(grant, 'GRANT_TYPE_')).join(', '),
  PKCE: ({ requirePkce }) => (requirePkce ? 'required' : 'optional'),
  'First party': ({ firstParty }) => (firstParty ? 'yes: people are not asked' : 'no: people are asked'),
  'ID tokens': ({ idTokenAlgorithm }) => algorithmName(idTokenAlgorithm),
  Lifetimes: ({ tokenLifetimes }) => [
    `access tokens ${asSeconds(tokenLifetimes?.accessTokenSeconds)}`,
    `refresh tokens ${asSeconds(tokenLifetimes?.refreshTokenSeconds)}`,
    `ID tokens ${asSeconds(tokenLifetimes?.idTokenSeconds)}`,
    `all refresh tokens of a sign-in ${asSeconds(tokenLifetimes?.refreshFamilySeconds)}`,
  ],
  'Redirect URIs': ({ redirectUris }) => redirectUris.map(({ uri, instanceId }) => `${instanceId} ${uri}`),
  'Sign-out': ({ signOutEndsTokens }) =>
    signOutEndsTokens ? 'ends its tokens' : 'leaves its tokens as they are',
  'After sign-out': ({ postLogoutRedirectUris }) => postLogoutRedirectUris,
  Logo: ({ logoUri }) => logoUri ?? '-',
  'Privacy policy': ({ policyUri }) => policyUri ?? '-',
  Terms: ({ tosUri }) => tosUri ?? '-',
  'Sign-in begins': ({ initiateLoginUri }) => initiateLoginUri ?? '-',
  Secrets: ({ secrets }) => secrets.map(({ id, expiresAt }) => `${id} ends ${asTime(expiresAt, 'never')}`),
  ...CHANGES,
} satisfies Facts<Application>);

function asSeconds(seconds: number | undefined): string {
  return seconds === undefined ? 'as the service' : `${seconds} s`;
}

/** What can be set at registration and later, as typed. */
interface SettingOptions {
  scope?: string[];
  grantType?: readonly string[];
  pkce?: 'required' | 'optional';
  firstParty?: boolean;
  signOutEndsTokens?: boolean;
  idTokenAlgorithm?: string;
  accessTokenLifetime?: number;
  refreshTokenLifetime?: number;
  idTokenLifetime?: number;
  refreshFamilyLifetime?: number;
  postLogoutRedirectUri?: string[];
  /** False removes all. */
  postLogoutRedirectUris?: boolean;
  /** The empty text removes an address. */
  logoUri?: string;
  policyUri?: string;
  tosUri?: string;
  initiateLoginUri?: string;
}

/** What was typed; lists are never absent in a request. */
const NO_LISTS = { allowedScopes: [], allowedGrantTypes: [], postLogoutRedirectUris: [] };

/** A new application without settings. */
export const PLAIN = {
  ...NO_LISTS,
  firstParty: false,
  signOutEndsTokens: false,
  idTokenAlgorithm: asEnum<SigningAlgorithm>(undefined, 'SIGNING_ALGORITHM_'),
};

function settingsOf(options: SettingOptions) {
  const { postLogoutRedirectUri, postLogoutRedirectUris, idTokenAlgorithm } = options;
  return withoutAbsent({
    allowedScopes: options.scope,
    allowedGrantTypes: options.grantType?.map((name) => asEnum<GrantType>(name, 'GRANT_TYPE_')),
    requirePkce: options.pkce && options.pkce === 'required',
    firstParty: options.firstParty,
    signOutEndsTokens: options.signOutEndsTokens,
    idTokenAlgorithm: idTokenAlgorithm
      ? asEnum<SigningAlgorithm>(idTokenAlgorithm, 'SIGNING_ALGORITHM_')
      : undefined,
    tokenLifetimes: lifetimesOf(options),
    postLogoutRedirectUris: postLogoutRedirectUri ?? (postLogoutRedirectUris === false ? [] : undefined),
    logoUri: options.logoUri,
    policyUri: options.policyUri,
    tosUri: options.tosUri,
    initiateLoginUri: options.initiateLoginUri,
  });
}

/** Undefined where no lifetime was typed. */
function lifetimesOf(options: SettingOptions): TokenLifetimes | undefined {
  const lifetimes = withoutAbsent({
    accessTokenSeconds: options.accessTokenLifetime,
    refreshTokenSeconds: options.refreshTokenLifetime,
    idTokenSeconds: options.idTokenLifetime,
    refreshFamilySeconds: options.refreshFamilyLifetime,
  });
  return Object.keys(lifetimes).length > 0 ? lifetimes : undefined;
}

function withoutAbsent<T extends object>(values: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}

interface CreateOptions extends SettingOptions {
  type: 'confidential' | 'public';
  redirectUri?: { instanceId: string; uri: string }[];
}

export const create: Action<CreateOptions> = async (
  { operator },
  [name],
  { type, redirectUri = [], ...options },
) => {
  const kind = { name, type: asEnum<ApplicationType>(type, 'APPLICATION_TYPE_'), redirectUris: redirectUri };
  const answer = await operator.createApplication({ ...PLAIN, ...settingsOf(options), ...kind });
  const secret = answer.clientSecret ? [shownOnce('The client_secret', answer.clientSecret)] : [];
  const advice = `Add a redirect URI before people sign in: integration app add-redirect-uri ${answer.application?.id} ins_…=https://…`;
  return { ...shown(answer, ...secret), note: redirectUri.length === 0 ? advice : undefined };
};

export const list: Action = async ({ operator, platform }, _, { instance: instanceId, limit }) =>
  shownPages(
    limit,
    'applications',
    (page) => operator.listApplications({ instanceId, ...page }),
    {
      client_id: ({ id }) => id,
      name: ({ name }) => name,
      type: ({ type }) => asWord(type, 'APPLICATION_TYPE_'),
      status: ({ status }) => asWord(status, 'APPLICATION_STATUS_'),
      'redirect uris': ({ redirectUris }) => String(redirectUris.length),
      created: ({ createdAt }) => asTime(createdAt),
    },
    () => instanceId && platform.getInstance({ instanceId }),
  );

export const show: Action = async ({ operator }, [applicationId]) =>
  shown(await operator.getApplication({ applicationId }));

export const update: Action<SettingOptions & { defaultLifetimes?: boolean }> = async (
  { operator },
  [applicationId],
  { name, defaultLifetimes, expectedVersion, ...options },
) => {
  const settings = settingsOf(options);
  const updateMask = updateMaskOf({ tokenLifetimes: defaultLifetimes, ...settings, name });
  const { application: present } =
    settings.tokenLifetimes && !defaultLifetimes ? await operator.getApplication({ applicationId }) : {};
  return shown(
    await operator.updateApplication({
      ...{ ...NO_LISTS, ...settings, applicationId, name, updateMask },
      tokenLifetimes: settings.tokenLifetimes && { ...present?.tokenLifetimes, ...settings.tokenLifetimes },
      // Lifetimes are replaced as a whole, so the version must be the one that was read.
      expectedVersion: expectedVersion ?? present?.version,
    }),
  );
};

export const disable: Action = async ({ operator }, [applicationId]) =>
  shown(await operator.disableApplication({ applicationId }));

export const enable: Action = async ({ operator }, [applicationId]) =>
  shown(await operator.enableApplication({ applicationId }));

type RedirectUris = readonly { instanceId: string; uri: string }[];

export const addRedirectUri: Action<object, readonly [application: string, uris: RedirectUris]> = async (
  { operator },
  [applicationId, [redirectUri]],
) => shown(await operator.addRedirectUri({ applicationId, redirectUri }));

export const removeRedirectUri: Action = async ({ operator }, [applicationId, uri]) =>
  shown(await operator.removeRedirectUri({ applicationId, uri }));

export const rotateSecret: Action = async ({ operator }, [applicationId], { overlap, yes }) => {
  if (overlap === 0) {
    const confirm = confirmation({ yes });
    await confirm(`End every present secret of ${applicationId} at once, before the new one is in place?`);
  }
  const answer = await operator.rotateApplicationSecret({ applicationId, overlapSeconds: overlap });
  return shown(answer, shownOnce('The client_secret', answer.clientSecret));
};

export const revokeSecret: Action = async ({ operator }, [applicationId, secretId], options) => {
  const confirm = confirmation(options);
  const { application } = await operator.getApplication({ applicationId });
  await confirm(`Revoke ${secretId} of "${application?.name}"? Callers that use it are refused at once.`);
  return shown(await operator.revokeApplicationSecret({ applicationId, secretId }));
};
