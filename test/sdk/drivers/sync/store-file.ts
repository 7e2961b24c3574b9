import { Sqlite } from '../../../../src/store/better-sqlite3.js';
import { byTypeAndId, type Copied } from '../changing-gateway.js';

/** What a store in a file has. */
export function entitiesIn(path: string): Copied[] {
  const database = new Sqlite(path, { readonly: true });
  try {
    const rows = database
      .prepare('select type, id, client_id as clientId, version, resource from entities')
      .all() as (Copied & { resource: string })[];
    return rows.map((row) => ({ ...row, resource: JSON.parse(row.resource) })).sort(byTypeAndId);
  } finally {
    database.close();
  }
}
