import type { AccountId } from '../../../generated/ids.js';
import type { DemoStore } from '../../domain/demo/seed.js';
import { camelCased } from '../camel-case.js';
import type { Database, Writer } from '../database.js';
import { seedApplications } from './demo/applications.js';
import { seedCredentials } from './demo/credentials.js';
import { seedDirectory } from './demo/directory.js';
import { insert } from './demo/insert.js';

export function demoStore({ reader, write }: Database): DemoStore {
  return {
    seed: (seed, credentials) =>
      write(async (writer) => {
        await seedDirectory(writer, seed);
        await seedApplications(writer, seed);
        await seedCredentials(writer, seed, credentials);
      }),
    withoutPassword: (accountIds) => withoutPassword(reader, accountIds),
    seedPasswords: (passwords, at) =>
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
