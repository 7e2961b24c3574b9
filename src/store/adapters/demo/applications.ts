import { type DemoApplication, demoAppId } from '../../../domain/demo/applications.js';
import type { DemoSeed } from '../../../domain/demo/seed.js';
import { DEFAULT_SETTINGS } from '../../../domain/operator/application-rules.js';
import type { Application } from '../../../domain/operator/rows/applications.js';
import { newVersion } from '../../../domain/version.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { redirectUriRows, toRow } from '../operator/applications.js';
import { insert } from './insert.js';

/**
 * Inserts missing applications, also if an earlier release inserted the directory. The addresses of the
 * demo's own application follow its port.
 */
export async function seedApplications(writer: Writer, { applications, createdAt }: DemoSeed): Promise<void> {
  for (const [index, application] of applications.entries()) {
    const row = toRow(registered(application, createdAt + index));
    const isNew = (await insert(writer, 'applications', [row])) > 0;
    // Redirect URIs that people removed must not return.
    if (!isNew && application.id !== demoAppId) {
      continue;
    }
    const added = await insert(writer, 'applicationRedirectUris', redirectUriRows(application));
    if (!isNew && added > 0) {
      const { postLogoutRedirectUris, logoUri, policyUri, tosUri, initiateLoginUri, version } = row;
      const { id } = application;
      await camelCased(writer)
        .updateTable('applications')
        .set({ postLogoutRedirectUris, logoUri, policyUri, tosUri, initiateLoginUri, version })
        .where('id', '=', id)
        .execute();
    }
  }
}

function registered(application: DemoApplication, createdAt: number): Application {
  return {
    ...DEFAULT_SETTINGS,
    ...application,
    enabled: true,
    postLogoutRedirectUris: [...application.postLogoutRedirectUris],
    redirectUris: [...application.redirectUris],
    secrets: [],
    version: newVersion(),
    createdAt,
    updatedAt: createdAt,
  };
}
