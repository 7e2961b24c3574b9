import type { Integration, IntegrationRows } from '../../../domain/operator/rows/integrations.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { olderThan } from './newest-first.js';

export function integrationRows(writer: Writer): IntegrationRows {
  const db = camelCased(writer);
  const integrations = () => db.selectFrom('integrations').selectAll().$narrowType<Pick<Integration, 'id'>>();
  return {
    find: (id) => integrations().where('id', '=', id).executeTakeFirst(),
    page: (page) =>
      integrations()
        .where(olderThan('integrations', page))
        .orderBy('createdAt', 'desc')
        .orderBy('id', 'desc')
        .limit(page.limit)
        .execute(),
    insert: async (integration) => {
      await db.insertInto('integrations').values(integration).execute();
    },
    update: async (integration) => {
      await db.updateTable('integrations').set(integration).where('id', '=', integration.id).execute();
    },
  };
}
