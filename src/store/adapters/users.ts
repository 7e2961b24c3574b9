import { type SqlBool, sql } from 'kysely';
import type { ClientId, UserId } from '../../../generated/ids.js';
import type { Schemas } from '../../domain/directory/contract-json.js';
import type { UserStore } from '../../domain/directory/stores.js';
import { camelCased } from '../camel-case.js';
import type { Database } from '../database.js';
import { shownEmailIn } from './directory-columns.js';
import { contractJson } from './statements/contract-json.js';
import { inList } from './statements/dialect.js';
import { keptQuery, onlyJson } from './statements/kept-statement.js';
import { keptPages } from './statements/keyset.js';

/** As in the index of users who are not deleted; SQLite would not use it for a placeholder. */
export const IS_PRESENT = sql<SqlBool>`users.status <> 'DELETED'`;

export function userStore({ reader }: Pick<Database, 'reader'>): UserStore {
  const db = camelCased(reader);
  const json = contractJson(db);
  const users = () =>
    db
      .selectFrom('users')
      .innerJoin('accounts as account', 'account.id', 'users.accountId')
      .leftJoin('users as manager', 'manager.id', 'users.managerId')
      .leftJoin('accounts as managerAccount', 'managerAccount.id', 'manager.accountId')
      .leftJoin('roles as role', 'role.id', 'users.roleId')
      .select((column) => {
        const user = json.object<Schemas['User']>({
          userId: column.ref('users.id').$castTo<UserId>(),
          clientId: column.ref('users.clientId').$castTo<ClientId>(),
          email: shownEmailIn('users', 'account'),
          firstName: column.ref('users.firstName'),
          lastName: column.ref('users.lastName'),
          fullName: column.ref('users.fullName'),
          status: column.ref('users.status'),
          manager: json.joined<Schemas['UserManager']>(column.ref('managerAccount.id'), {
            id: column.ref('manager.id').$castTo<UserId>(),
            firstName: column.ref('manager.firstName'),
            lastName: column.ref('manager.lastName'),
            fullName: column.ref('manager.fullName'),
            email: shownEmailIn('manager', 'managerAccount'),
          }),
          role: json.joined<Schemas['UserRole']>(column.ref('role.id'), {
            id: column.ref('role.id').$notNull(),
            name: column.ref('role.name').$notNull(),
          }),
          createdAt: json.time(column.ref('users.createdAt')),
        });
        return ['users.id', 'users.createdAt', json.text(user).as('json')];
      });
  const present = () => users().where(IS_PRESENT);
  return {
    page: keptPages(db, 'users', (clientId) => present().where('users.clientId', '=', clientId)),
    find: onlyJson(
      keptQuery(db, (clientId: string, id: string) =>
        users().where('users.clientId', '=', clientId).where('users.id', '=', id),
      ),
    ),
    presentOf: keptQuery(db, (ids: string) => present().where(inList(db, 'users.id', ids))),
  };
}
