import { type Expression, type InferResult, type SqlBool, sql } from 'kysely';
import type { ClientId } from '../../../../generated/ids.js';
import { MAY_SIGN_IN } from '../../../domain/directory/names.js';
import type { Identity, IdentityRows } from '../../../domain/sign-on/identity.js';
import type { ContextChoice, LoginContext } from '../../../domain/sign-on/interaction/login-contexts.js';
import { camelCased, type Rows, type Writer } from '../../database.js';
import { ACCOUNT_COLUMNS, type AccountIds } from '../platform/accounts.js';
import { statement } from '../statements/kept-statement.js';

/** Whose person on which instance: values, or a row that names both. */
interface Sight<Id = string> {
  accountId: Id;
  instanceId: Id;
}

type Sought = Sight<string | Expression<string>>;

/** The person, the contexts and the last context, as two statements that do not wait for each other. */
function lookup<Values extends Record<keyof Values, string>>(soughtBy: (values: Values) => Sought) {
  const person = statement((db, values: Values) => personOf(db, soughtBy(values)));
  const contexts = statement((db, values: Values) => contextsOf(db, soughtBy(values)));
  return async (db: Rows, values: Values): Promise<Identity | undefined> => {
    const [people, choices] = await Promise.all([person(db, values), contexts(db, values)]);
    const [row] = people.rows;
    if (!row) {
      return undefined;
    }
    const { lastUserType: userType, lastClientId: clientId, ...account } = row;
    const lastContext = userType === null || clientId === null ? undefined : { userType, clientId };
    return { account, contexts: choices.rows.map(toChoice), lastContext };
  };
}

const bySight = lookup((sight: Sight) => sight);
const byGrant = lookup(({ id }: { id: string }) => ({
  accountId: sql<string>`(select account_id from grants where id = ${id})`,
  instanceId: sql<string>`(select instance_id from grants where id = ${id})`,
}));
const byCode = lookup(({ hash }: { hash: string }) => ({
  accountId: sql<string>`(select account_id from authorization_codes where hash = ${hash})`,
  instanceId: sql<string>`(select instance_id from authorization_codes where hash = ${hash})`,
}));

function personOf(db: Rows, { accountId, instanceId }: Sought) {
  return db
    .selectFrom('accounts')
    .leftJoin('loginContexts as last', (join) =>
      join.onRef('last.accountId', '=', 'accounts.id').on('last.instanceId', '=', instanceId),
    )
    .where('accounts.id', '=', accountId)
    .select(ACCOUNT_COLUMNS.map((column) => `accounts.${column}` as const))
    .select(['last.userType as lastUserType', 'last.clientId as lastClientId'])
    .$narrowType<AccountIds & { lastClientId: ClientId | null }>();
}

function contextsOf(db: Rows, sought: Sought) {
  return usersOf(db, sought).unionAll(workersOf(db, sought)).orderBy('createdAt').orderBy('memberId');
}

/** As in the index of the present users of a person; SQLite would not use it for placeholders. */
const IS_PRESENT = sql<SqlBool>`member.status <> 'DELETED'`;

function usersOf(db: Rows, { accountId, instanceId }: Sought) {
  return db
    .selectFrom('users as member')
    .innerJoin('clients as client', 'client.id', 'member.clientId')
    .leftJoin('roles as role', 'role.id', 'member.roleId')
    .where('member.accountId', '=', accountId)
    .where('member.status', 'in', MAY_SIGN_IN)
    .where(IS_PRESENT)
    .where('client.instanceId', '=', instanceId)
    .select(['member.id as memberId', 'member.clientId', 'client.name as clientName'])
    .select(['member.firstName', 'member.lastName'])
    .select(['member.fullName', 'member.createdAt as createdAt'])
    .select(['role.name as roleName', 'member.status'])
    .select(sql<LoginContext['userType']>`'USER'`.as('userType'));
}

function workersOf(db: Rows, { accountId, instanceId }: Sought) {
  return db
    .selectFrom('workers as member')
    .innerJoin('clients as client', 'client.id', 'member.clientId')
    .where('member.accountId', '=', accountId)
    .where('member.offboardedAt', 'is', null)
    .where('client.instanceId', '=', instanceId)
    .select(['member.id as memberId', 'member.clientId', 'client.name as clientName'])
    .select(['member.firstName', 'member.lastName'])
    .select(['member.fullName', 'member.createdAt as createdAt'])
    .select([sql<string | null>`null`.as('roleName'), sql<'ACTIVE'>`'ACTIVE'`.as('status')])
    .select(sql<LoginContext['userType']>`'WORKER'`.as('userType'));
}

export function identityRows(writer: Writer): IdentityRows {
  const db = camelCased(writer);
  return {
    find: (accountId, instanceId) => bySight(db, { accountId, instanceId }),
    ofGrant: (id) => byGrant(db, { id }),
    ofCode: (hash) => byCode(db, { hash }),
  };
}

type ChoiceRow = InferResult<ReturnType<typeof contextsOf>>[number];

function toChoice({ clientId, status, createdAt: _, ...choice }: ChoiceRow): ContextChoice {
  return { ...choice, clientId: clientId as ClientId, invited: status === 'INVITED' };
}
