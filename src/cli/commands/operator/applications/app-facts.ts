import type { Application } from '../../../../../generated/proto/integration/operator/v1/applications.js';
import { asFacts, asTime, asWord } from '../../output/table.js';
import type { Shown } from '../session.js';

export function shownApplication(answer: { application?: Application | undefined }): Shown {
  return { json: answer, text: factsOf(answer.application as Application) };
}

export function factsOf(application: Application): string {
  const { tokenLifetimes } = application;
  return asFacts([
    ['Application', application.id],
    ['Name', application.name],
    ['Type', asWord(application.type, 'APPLICATION_TYPE_')],
    ['Status', asWord(application.status, 'APPLICATION_STATUS_')],
    ['Scopes', application.allowedScopes.join(' ')],
    ['Grants', application.allowedGrantTypes.map((grant) => asWord(grant, 'GRANT_TYPE_')).join(', ')],
    ['PKCE', application.requirePkce ? 'required' : 'optional'],
    ['First party', application.firstParty ? 'yes: people are not asked' : 'no: people are asked'],
    ['ID tokens', application.idTokenAlgorithm.replace('SIGNING_ALGORITHM_', '')],
    [
      'Lifetimes',
      [
        `access tokens ${asSeconds(tokenLifetimes?.accessTokenSeconds)}`,
        `refresh tokens ${asSeconds(tokenLifetimes?.refreshTokenSeconds)}`,
        `ID tokens ${asSeconds(tokenLifetimes?.idTokenSeconds)}`,
        `all refresh tokens of a sign-in ${asSeconds(tokenLifetimes?.refreshFamilySeconds)}`,
      ],
    ],
    ['Redirect URIs', application.redirectUris.map(({ uri, instanceId }) => `${instanceId} ${uri}`)],
    ['Sign-out', application.signOutEndsTokens ? 'ends its tokens' : 'leaves its tokens as they are'],
    ['After sign-out', application.postLogoutRedirectUris],
    ['Logo', application.logoUri ?? '-'],
    ['Privacy policy', application.policyUri ?? '-'],
    ['Terms', application.tosUri ?? '-'],
    ['Sign-in begins', application.initiateLoginUri ?? '-'],
    ['Secrets', application.secrets.map(({ id, expiresAt }) => `${id} ends ${asTime(expiresAt, 'never')}`)],
    ['Created', asTime(application.createdAt)],
    ['Changed', asTime(application.updatedAt)],
    ['Version', application.version],
  ]);
}

function asSeconds(seconds: number | undefined): string {
  return seconds === undefined ? 'as the service' : `${seconds} s`;
}
