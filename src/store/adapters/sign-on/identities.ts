import { sql } from 'kysely';
import type { ClientId } from '../../../../generated/ids.js';
import type { IdentityRows } from '../../../domain/sign-on/identity.js';
import type { ContextChoice, LoginContext } from '../../../domain/sign-on/interaction/login-contexts.js';
import { camelCased, type Rows } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { type AccountIds, accountColumns } from '../platform/accounts.js';
import { statement } from '../statements/kept-statement.js';

interface Sight {
  accountId: string;
  instanceId: string;
}

const person = statement((db, { accountId, instanceId }: Sight) =>
  db
    .selectFrom('accounts')
    .leftJoin('loginContexts as last', (join) =>
      join.onRef('last.accountId', '=', 'accounts.id').on('last.instanceId', '=', instanceId),
    )
    .where('accounts.id', '=', accountId)
    .select(accountColumns.map((column) => `accounts.${column}` as const))
    .select(['last.userType as lastUserType', 'last.clientId as lastClientId'])
    .$narrowType<AccountIds & { lastClientId: ClientId | null }>(),
);

const contexts = statement((db, { accountId, instanceId }: Sight) =>
  usersOf(db, accountId, instanceId)
    .unionAll(workersOf(db, accountId, instanceId))
    .orderBy('createdAt')
    .orderBy('memberId'),
);

function usersOf(db: Rows, accountId: string, instanceId: string) {
  return db
    .selectFrom('users as member')
    .innerJoin('clients as client', 'client.id', 'member.clientId')
    .leftJoin('roles as role', 'role.id', 'member.roleId')
    .where('member.accountId', '=', accountId)
    .where('member.status', 'in', ['ACTIVE', 'INVITED'])
    .where('client.instanceId', '=', instanceId)
    .select(['member.id as memberId', 'member.clientId', 'client.name as clientName'])
    .select(['member.firstName', 'member.lastName'])
    .select(['member.fullName', 'member.createdAt as createdAt'])
    .select(['role.name as roleName', 'member.status'])
    .select(sql<LoginContext['userType']>`'USER'`.as('userType'));
}

function workersOf(db: Rows, accountId: string, instanceId: string) {
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
    find: async (accountId, instanceId) => {
      const sight = { accountId, instanceId };
      const [people, choices] = await Promise.all([person(db, sight), contexts(db, sight)]);
      const [row] = people.rows;
      if (!row) {
        return undefined;
      }
      const { lastUserType, lastClientId, ...account } = row;
      return {
        account,
        contexts: choices.rows.map(toChoice),
        lastContext: lastContextOf(lastUserType, lastClientId),
      };
    },
  };
}

interface ChoiceRow extends Omit<ContextChoice, 'clientId' | 'invited'> {
  clientId: string;
  status: string;
}

function toChoice(row: ChoiceRow): ContextChoice {
  return {
    userType: row.userType,
    clientId: row.clientId as ClientId,
    memberId: row.memberId,
    firstName: row.firstName,
    lastName: row.lastName,
    fullName: row.fullName,
    clientName: row.clientName,
    roleName: row.roleName,
    invited: row.status === 'INVITED',
  };
}

function lastContextOf(
  userType: LoginContext['userType'] | null,
  clientId: ClientId | null,
): LoginContext | undefined {
  return userType === null || clientId === null ? undefined : { userType, clientId };
}
