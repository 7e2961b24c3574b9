import type { Integration, IntegrationRows } from '../../../domain/operator/rows/integrations.js';
import { camelCased } from '../../camel-case.js';
import type { Writer } from '../../database.js';
import { newestFirst } from '../statements/keyset.js';
import { plainWrites } from '../statements/plain-writes.js';

export function integrationRows(writer: Writer): IntegrationRows {
  const db = camelCased(writer);
  const { insert, update } = plainWrites(db, 'integrations');
  const integrations = () => db.selectFrom('integrations').selectAll().$narrowType<Pick<Integration, 'id'>>();
  return {
    find: (id) => integrations().where('id', '=', id).executeTakeFirst(),
    page: (page) => newestFirst(integrations(), 'integrations', page),
    insert,
    update,
  };
}
