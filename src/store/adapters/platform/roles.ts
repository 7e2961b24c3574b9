import { type SqlBool, sql } from 'kysely';
import type { PageRequest } from '../../../domain/directory/page.js';
import { OWNER } from '../../../domain/platform/organization/new-roles.js';
import type { Role, RoleRows } from '../../../domain/platform/rows/organization.js';
import { camelCased, type Rows, type Tables, type Writer } from '../../database.js';
import { inList } from '../statements/dialect.js';
import { plainWrites } from '../statements/plain-writes.js';
import { countOfClient } from './organization.js';

export function roleRows(writer: Writer): RoleRows {
  const db = camelCased(writer);
  const writes = plainWrites(db, 'roles');
  const roles = () => db.selectFrom('roles').selectAll().$narrowType<Pick<Role, 'clientId'>>();
  return {
    find: async (id) => {
      const row = await roles().where('id', '=', id).executeTakeFirst();
      return row && toRole(row);
    },
    sizes: (page, clientId) =>
      inOrder(db)
        .where('clientId', '=', clientId)
        .where(behindRole(page))
        .select(['createdAt', 'id', sql<number>`length(permissions)`.as('size')])
        .limit(page.limit)
        .execute(),
    findAll: async (clientId, ids) => {
      const found = inOrder(db)
        .where('clientId', '=', clientId)
        .where(inList(db, 'id', JSON.stringify(ids)));
      return (await found.selectAll().$narrowType<Pick<Role, 'clientId'>>().execute()).map(toRole);
    },
    count: countOfClient(db, 'roles'),
    names: async (clientId) => {
      const named = db.selectFrom('roles').where('clientId', '=', clientId).select('name');
      return new Set((await named.execute()).map(({ name }) => name));
    },
    ownerOf: async (clientId) => (await ownerRole(db, clientId).executeTakeFirst())?.id,
    insert: (role) => writes.insert(toRow(role)),
    delete: writes.delete,
  };
}

export function ownerRole(db: Rows, clientId: string) {
  const roles = db.selectFrom('roles').where('clientId', '=', clientId);
  return roles.where('builtIn', '=', 1).where('name', '=', OWNER).select('id');
}

function inOrder(db: Rows) {
  return db.selectFrom('roles').orderBy('builtIn', 'desc').orderBy('createdAt').orderBy('id');
}

/** Built-in roles come first. A deleted role was not built-in, because those are never deleted. */
function behindRole({ after }: PageRequest) {
  return after
    ? sql<SqlBool>`(-built_in, created_at, id) > (coalesce((select -built_in from roles where id = ${after.id}), 0), ${after.createdAt}, ${after.id})`
    : sql<SqlBool>`1 = 1`;
}

function toRole(row: Omit<Tables['roles'], 'clientId'> & Pick<Role, 'clientId'>): Role {
  return { ...row, builtIn: row.builtIn === 1, permissions: JSON.parse(row.permissions) };
}

function toRow(role: Role): Tables['roles'] {
  return { ...role, builtIn: role.builtIn ? 1 : 0, permissions: JSON.stringify(role.permissions) };
}
