import type { AccountId } from '../../../generated/ids.js';
import type { DemoStore } from '../../domain/demo/seed.js';
import { camelCased } from '../camel-case.js';
import type { Database, Writer } from '../database.js';
import { plantApplications } from './demo/applications.js';
import { plantCredentials } from './demo/credentials.js';
import { plantDirectory } from './demo/directory.js';
import { insert } from './demo/insert.js';

export function demoStore({ reader, write }: Database): DemoStore {
  return {
    plant: (seed, credentials) =>
      write(async (writer) => {
        await plantDirectory(writer, seed);
        await plantApplications(writer, seed);
        await plantCredentials(writer, seed, credentials);
      }),
    withoutPassword: (accountIds) => withoutPassword(reader, accountIds),
    plantPasswords: (passwords, at) =>
      write(async (writer) => {
        const rows = passwords.map(({ accountId, hash }) => ({ accountId, hash, setAt: at }));
        await insert(writer, 'passwords', rows);
      }),
  };
}

async function withoutPassword(reader: Writer, accountIds: readonly AccountId[]): Promise<AccountId[]> {
  const rows = await camelCased(reader)
    .selectFrom('accounts')
    .leftJoin('passwords', 'passwords.accountId', 'accounts.id')
    .where('accounts.id', 'in', [...accountIds])
    .where('passwords.accountId', 'is', null)
    .select('accounts.id')
    .execute();
  return rows.map(({ id }) => id as AccountId);
}
