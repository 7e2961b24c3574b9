import type { Rows } from '../../camel-case.js';
import { statement } from './kept-statement.js';

interface Use {
  id: string;
  at: number;
  unlessSince: number;
}

const useOf = (table: 'apiKeys' | 'serviceTokens' | 'applicationSecrets') =>
  statement((db, { id, at, unlessSince }: Use) =>
    db
      .updateTable(table as 'apiKeys')
      .set({ lastUsedAt: at })
      .where('id', '=', id)
      .where((where) => where.or([where('lastUsedAt', 'is', null), where('lastUsedAt', '<', unlessSince)])),
  );

const uses = {
  apiKeys: useOf('apiKeys'),
  serviceTokens: useOf('serviceTokens'),
  applicationSecrets: useOf('applicationSecrets'),
};

/** Notes the use of a credential, unless one since a time is noted. */
export async function markUsed(db: Rows, table: keyof typeof uses, use: Use): Promise<void> {
  await uses[table](db, use);
}
