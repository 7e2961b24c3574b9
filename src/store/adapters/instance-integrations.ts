import type { InstanceId, InstanceIntegrationId } from '../../../generated/ids.js';
import { jsonArray, type Schemas } from '../../domain/directory/contract-json.js';
import type { InstanceIntegrationStore } from '../../domain/directory/stores.js';
import { camelCased, type Database } from '../database.js';
import { contractJson } from './statements/contract-json.js';
import { keptQuery } from './statements/kept-statement.js';

export function instanceIntegrationStore({ reader }: Database): InstanceIntegrationStore {
  const db = camelCased(reader);
  const json = contractJson(db);
  const ofIntegration = keptQuery(db, (integrationId: string) =>
    db
      .selectFrom('instanceIntegrations as instanceIntegration')
      .innerJoin('instances', 'instances.id', 'instanceIntegration.instanceId')
      .where('instanceIntegration.integrationId', '=', integrationId)
      .orderBy('instanceIntegration.createdAt')
      .orderBy('instanceIntegration.id')
      .select((column) => {
        const instanceIntegration = json.object<Schemas['InstanceIntegration']>({
          id: column.ref('instanceIntegration.id').$castTo<InstanceIntegrationId>(),
          applicationInstance: json.object<Schemas['ApplicationInstance']>({
            id: column.ref('instances.id').$castTo<InstanceId>(),
            instanceName: column.ref('instances.name'),
          }),
          createdAt: json.time(column.ref('instanceIntegration.createdAt')),
          updatedAt: json.time(column.ref('instanceIntegration.updatedAt')),
        });
        return json.text(instanceIntegration).as('json');
      }),
  );
  return {
    listOf: async (integrationId) => jsonArray((await ofIntegration(integrationId)).map((row) => row.json)),
  };
}
