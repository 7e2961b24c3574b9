import type { DemoApplication } from '../../../domain/demo/applications.js';
import type { DemoSeed } from '../../../domain/demo/seed.js';
import { GRANT_TYPES, toLifetimes } from '../../../domain/operator/application-rules.js';
import type { Application } from '../../../domain/operator/rows/applications.js';
import { newVersion } from '../../../domain/version.js';
import type { Writer } from '../../database.js';
import { toRow } from '../operator/application-mapping.js';
import { insert } from './insert.js';

/** Each missing one, also next to a directory that an earlier release planted. */
export async function plantApplications(
  writer: Writer,
  { applications, createdAt }: DemoSeed,
): Promise<void> {
  for (const [index, application] of applications.entries()) {
    const row = toRow(registered(application, createdAt + index));
    // Redirect URIs that people removed must not return.
    if ((await insert(writer, 'applications', [row])) === 0) {
      continue;
    }
    const redirectUris = application.redirectUris.map(({ uri, instanceId }, position) => ({
      applicationId: application.id,
      uri,
      instanceId,
      position,
    }));
    await insert(writer, 'applicationRedirectUris', redirectUris);
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
