import { type ExpressionBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { ClientId, LocationId, UnitId, UserId, WorkerId } from '../../../generated/ids.js';
import type { Schemas } from '../../domain/directory/contract-json.js';
import type { ClientStore, Listed, UserStore, WorkerStore } from '../../domain/directory/stores.js';
import { camelCased, type Database, type Tables } from '../database.js';
import { addressMembers, contractEmailIn, shownEmailIn } from './directory-columns.js';
import { contractJson, type Members } from './statements/contract-json.js';
import { inList } from './statements/dialect.js';
import { keptQuery, onlyJson } from './statements/kept-statement.js';
import { keptPages } from './statements/keyset.js';

export function clientStore({ reader }: Pick<Database, 'reader'>): ClientStore {
  const db = camelCased(reader);
  const json = contractJson(db);
  const clients = () =>
    db.selectFrom('clients').select((column) => {
      const client = json.object<Schemas['TenantClient']>({
        id: column.ref('id').$castTo<ClientId>(),
        name: column.ref('name'),
        location: json.object<Schemas['Address']>(addressMembers((name) => column.ref(name))),
      });
      return ['id', 'createdAt', json.text(client).as('json')];
    });
  return {
    page: keptPages(db, 'clients', (instanceId) => clients().where('instanceId', '=', instanceId)),
    find: onlyJson(keptQuery(db, (id: string) => clients().where('id', '=', id))),
    allOf: keptQuery(db, (ids: string) => clients().where(inList(db, 'id', ids))),
  };
}

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

type WorkerRows<T> = SelectQueryBuilder<Tables, 'workers', Listed<T>>;

export function workerStore({ reader }: Pick<Database, 'reader'>): WorkerStore {
  const db = camelCased(reader);
  const json = contractJson(db);
  const members = (column: ExpressionBuilder<Tables, 'workers'>): Members<Schemas['Worker']> => ({
    id: column.ref('workers.id').$castTo<WorkerId>(),
    firstName: column.ref('workers.firstName'),
    lastName: column.ref('workers.lastName'),
    fullName: column.ref('workers.fullName'),
    email: contractEmailIn('workers'),
    jobTitles: json.stored<string[]>(column.ref('workers.jobTitles')),
    phone: column.ref('workers.phone'),
    location: json.object<Schemas['Address']>(addressMembers((name) => column.ref(`workers.${name}`))),
  });
  const rowsV1 = (): WorkerRows<Schemas['Worker']> =>
    db
      .selectFrom('workers')
      .select((column) => [
        'workers.id',
        'workers.createdAt',
        json.text(json.object<Schemas['Worker']>(members(column))).as('json'),
      ]);
  const rowsV2 = (): WorkerRows<Schemas['WorkerV2']> =>
    db
      .selectFrom('workers')
      .leftJoin('units as unit', 'unit.id', 'workers.primaryUnitId')
      .leftJoin('locations as location', 'location.id', 'workers.locationId')
      .select((column) => {
        const worker = json.object<Schemas['WorkerV2']>({
          ...members(column as unknown as ExpressionBuilder<Tables, 'workers'>),
          organizationUnits: json.list<Schemas['NamedUnit']>(
            json.object<Schemas['NamedUnit']>({ id: sql.ref('assigned.id'), name: sql.ref('assigned.name') }),
            sql`worker_units as assignment inner join units as assigned on assigned.id = assignment.unit_id
              where assignment.worker_id = ${column.ref('workers.id')}`,
            sql.ref('assignment.position'),
          ),
          organizationUnit: json.joined<Schemas['NamedUnit']>(column.ref('unit.id'), {
            id: column.ref('unit.id').$castTo<UnitId>(),
            name: column.ref('unit.name').$notNull(),
          }),
          organizationLocation: json.joined<Schemas['NamedLocation']>(column.ref('location.id'), {
            id: column.ref('location.id').$castTo<LocationId>(),
            name: column.ref('location.name').$notNull(),
          }),
          offboardedAt: json.time(column.ref('workers.offboardedAt')),
        });
        return ['workers.id', 'workers.createdAt', json.text(worker).as('json')];
      }) as never;
  const pagesOf = <T>(rows: () => WorkerRows<T>) =>
    keptPages(db, 'workers', (clientId) =>
      rows().where('workers.clientId', '=', clientId).where('workers.offboardedAt', 'is', null),
    );
  return {
    page: pagesOf(rowsV1),
    pageV2: pagesOf(rowsV2),
    findV2: onlyJson(
      keptQuery(db, (clientId: string, id: string) =>
        rowsV2().where('workers.clientId', '=', clientId).where('workers.id', '=', id),
      ),
    ),
    activeOf: keptQuery(db, (ids: string) =>
      rowsV2()
        .where(inList(db, 'workers.id', ids))
        .where('workers.offboardedAt', 'is', null),
    ),
  };
}
