import { sql } from 'kysely';
import type { ClientId } from '../../../../generated/ids.js';
import type { IdentityRows } from '../../../domain/sign-on/identity.js';
import type { ContextChoice, LoginContext } from '../../../domain/sign-on/login-contexts.js';
import type { Writer } from '../../database.js';
import { keptStatement } from '../kept-statement.js';
import { toAccount } from '../platform/accounts.js';

interface Sight {
  accountId: string;
  instanceId: string;
}

const person = keptStatement((db, { accountId, instanceId }: Sight) =>
  db
    .selectFrom('accounts')
    .leftJoin('login_contexts as last', (join) =>
      join.onRef('last.account_id', '=', 'accounts.id').on('last.instance_id', '=', instanceId),
    )
    .where('accounts.id', '=', accountId)
    .selectAll('accounts')
    .select(['last.user_type as last_user_type', 'last.client_id as last_client_id']),
);

const contexts = keptStatement((db, { accountId, instanceId }: Sight) =>
  usersOf(db, accountId, instanceId)
    .unionAll(workersOf(db, accountId, instanceId))
    .orderBy('createdAt')
    .orderBy('memberId'),
);

function usersOf(db: Writer, accountId: string, instanceId: string) {
  return db
    .selectFrom('users as member')
    .innerJoin('clients as client', 'client.id', 'member.client_id')
    .leftJoin('roles as role', 'role.id', 'member.role_id')
    .where('member.account_id', '=', accountId)
    .where('member.status', 'in', ['ACTIVE', 'INVITED'])
    .where('client.instance_id', '=', instanceId)
    .select(['member.id as memberId', 'member.client_id as clientId', 'client.name as clientName'])
    .select(['member.first_name as firstName', 'member.last_name as lastName'])
    .select(['member.full_name as fullName', 'member.created_at as createdAt'])
    .select(['role.name as roleName', 'member.status'])
    .select(sql<LoginContext['userType']>`'USER'`.as('userType'));
}

function workersOf(db: Writer, accountId: string, instanceId: string) {
  return db
    .selectFrom('workers as member')
    .innerJoin('clients as client', 'client.id', 'member.client_id')
    .where('member.account_id', '=', accountId)
    .where('member.offboarded_at', 'is', null)
    .where('client.instance_id', '=', instanceId)
    .select(['member.id as memberId', 'member.client_id as clientId', 'client.name as clientName'])
    .select(['member.first_name as firstName', 'member.last_name as lastName'])
    .select(['member.full_name as fullName', 'member.created_at as createdAt'])
    .select([sql<string | null>`null`.as('roleName'), sql<'ACTIVE'>`'ACTIVE'`.as('status')])
    .select(sql<LoginContext['userType']>`'WORKER'`.as('userType'));
}

export function identityRows(db: Writer): IdentityRows {
  return {
    find: async (accountId, instanceId) => {
      const sight = { accountId, instanceId };
      const [people, choices] = await Promise.all([person(db, sight), contexts(db, sight)]);
      const row = people.rows[0];
      return (
        row && {
          account: toAccount(row),
          contexts: choices.rows.map(toChoice),
          lastContext: lastContextOf(row.last_user_type, row.last_client_id),
        }
      );
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
  clientId: string | null,
): LoginContext | undefined {
  return userType === null || clientId === null ? undefined : { userType, clientId: clientId as ClientId };
}
