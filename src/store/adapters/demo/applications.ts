import type { DemoApplication } from '../../../domain/demo/applications.js';
import type { DemoSeed } from '../../../domain/demo/seed.js';
import { GRANT_TYPES, toLifetimes } from '../../../domain/operator/application-rules.js';
import type { Application } from '../../../domain/operator/applications.js';
import { newVersion } from '../../../domain/version.js';
import type { Writer } from '../../database.js';
import { toRow } from '../operator/application-mapping.js';
import { insert } from './insert.js';

/** Each where it is missing, also beside a directory that an earlier release planted. */
export async function plantApplications(
  writer: Writer,
  { applications, createdAt }: DemoSeed,
): Promise<void> {
  for (const [index, application] of applications.entries()) {
    const row = toRow(registered(application, createdAt + index));
    // Redirect URIs that people took away since must not come back.
    if ((await insert(writer, 'applications', [row])) === 0) {
      continue;
    }
    const redirectUris = application.redirectUris.map(({ uri, instanceId }, position) => ({
      application_id: application.id,
      uri,
      instance_id: instanceId,
      position,
    }));
    await insert(writer, 'application_redirect_uris', redirectUris);
  }
}

function registered(application: DemoApplication, createdAt: number): Application {
  return {
    ...application,
    enabled: true,
    signOutEndsTokens: false,
    allowedGrantTypes: [...GRANT_TYPES],
    idTokenAlgorithm: 'RS256',
    tokenLifetimes: toLifetimes(undefined),
    postLogoutRedirectUris: [...application.postLogoutRedirectUris],
    redirectUris: [...application.redirectUris],
    secrets: [],
    version: newVersion(),
    createdAt,
    updatedAt: createdAt,
  };
}
