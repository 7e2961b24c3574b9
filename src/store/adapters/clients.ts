import type { ClientId } from '../../../generated/ids.js';
import type { Schemas } from '../../domain/directory/contract-json.js';
import type { ClientStore } from '../../domain/directory/stores.js';
import { camelCased } from '../camel-case.js';
import type { Database } from '../database.js';
import { addressMembers } from './directory-columns.js';
import { contractJson } from './statements/contract-json.js';
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
