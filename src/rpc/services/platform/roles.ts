import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import type { Role as RoleMessage } from '../../../../generated/proto/integration/platform/v1/roles.js';
import { getClient } from '../../../domain/platform/clients.js';
import { listPage } from '../../../domain/platform/listing.js';
import { editRolePermissions } from '../../../domain/platform/role-edits.js';
import { createRole, deleteRole, getRole, type Role } from '../../../domain/platform/roles.js';
import type { Handlers } from '../../handlers.js';
import { type PlatformDependencies, write } from './write.js';

export function roleHandlers(platform: PlatformDependencies): Handlers<typeof methods> {
  const { rows } = platform.unitOfWork;
  return {
    createRole: (request, context) =>
      write(platform, methods.createRole, request, context, async (changes) => ({
        role: toMessage(await createRole(changes, request)),
      })),
    getRole: async ({ roleId }) => ({ role: toMessage(await getRole(rows, roleId)) }),
    listRoles: async ({ clientId, ...listing }) => {
      const { id } = await getClient(rows, clientId);
      const { rows: found, nextPageToken } = await listPage(listing, (page) => rows.roles.page(page, id));
      return { roles: found.map(toMessage), nextPageToken };
    },
    editRolePermissions: (request, context) =>
      write(platform, methods.editRolePermissions, request, context, async (changes) => {
        const { role, repointedUsers } = await editRolePermissions(changes, request);
        return { role: toMessage(role), repointedUsers };
      }),
    deleteRole: (request, context) =>
      write(platform, methods.deleteRole, request, context, async (changes) => {
        await deleteRole(changes, request);
        return {};
      }),
  };
}

function toMessage({ createdAt, ...role }: Role): RoleMessage {
  return { ...role, createdAt: new Date(createdAt) };
}
