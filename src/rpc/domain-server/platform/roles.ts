import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { listPage } from '../../../domain/platform/listing.js';
import { getClient } from '../../../domain/platform/organization/clients.js';
import { editRolePermissions } from '../../../domain/platform/organization/role-edits.js';
import { createRole, deleteRole, getRole } from '../../../domain/platform/organization/roles.js';
import type { Handlers } from '../../handlers.js';
import { type PlatformDependencies, write } from './write.js';

export function roleHandlers(platform: PlatformDependencies): Handlers<typeof methods> {
  const { rows } = platform.unitOfWork;
  return {
    createRole: (request, context) =>
      write(platform, methods.createRole, request, context, async (changes) => ({
        role: await createRole(changes, request),
      })),
    getRole: async ({ roleId }) => ({ role: await getRole(rows, roleId) }),
    listRoles: async ({ clientId, ...listing }) => {
      const { id } = await getClient(rows, clientId);
      const { rows: roles, nextPageToken } = await listPage(listing, (page) => rows.roles.page(page, id));
      return { roles, nextPageToken };
    },
    editRolePermissions: (request, context) =>
      write(platform, methods.editRolePermissions, request, context, (changes) =>
        editRolePermissions(changes, request),
      ),
    deleteRole: (request, context) =>
      write(platform, methods.deleteRole, request, context, async (changes) => {
        await deleteRole(changes, request);
        return {};
      }),
  };
}
