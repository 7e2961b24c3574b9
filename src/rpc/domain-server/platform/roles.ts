import { listPage } from '../../../domain/platform/listing.js';
import { getClient } from '../../../domain/platform/organization/clients.js';
import { editRolePermissions } from '../../../domain/platform/organization/role-edits.js';
import { createRole, deleteRole, getRole } from '../../../domain/platform/organization/roles.js';
import { type HandlerDependencies, type PlatformHandlers, writing } from './write.js';

export function roleHandlers(platform: HandlerDependencies): PlatformHandlers {
  return {
    ...writing(platform, {
      createRole: async (changes, request) => ({ role: await createRole(changes, request) }),
      editRolePermissions,
      deleteRole,
    }),
    getRole: async ({ roleId }, { rows }) => ({ role: await getRole(rows, roleId) }),
    listRoles: async ({ clientId, ...listing }, { rows }) => {
      const { id } = await getClient(rows, clientId);
      const { rows: roles, nextPageToken } = await listPage(listing, (page) => rows.roles.page(page, id));
      return { roles, nextPageToken };
    },
  };
}
