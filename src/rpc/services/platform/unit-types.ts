import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import type { UnitType as UnitTypeMessage } from '../../../../generated/proto/integration/platform/v1/units.js';
import { getClient } from '../../../domain/platform/clients.js';
import { listPage } from '../../../domain/platform/listing.js';
import {
  createUnitType,
  deleteUnitType,
  getUnitType,
  type UnitType,
  updateUnitType,
} from '../../../domain/platform/unit-types.js';
import type { Handlers } from '../../handlers.js';
import { toUnitMessage } from './units.js';
import { type PlatformDependencies, write } from './write.js';

export function unitTypeHandlers(platform: PlatformDependencies): Handlers<typeof methods> {
  const { rows } = platform.unitOfWork;
  return {
    createUnitType: (request, context) =>
      write(platform, methods.createUnitType, request, context, async (changes) => {
        const { unitType, units } = await createUnitType(changes, request);
        return { unitType: toMessage(unitType), units: units.map(toUnitMessage) };
      }),
    getUnitType: async ({ unitTypeId }) => ({ unitType: toMessage(await getUnitType(rows, unitTypeId)) }),
    listUnitTypes: async ({ clientId, ...listing }) => {
      const { id } = await getClient(rows, clientId);
      const { rows: found, nextPageToken } = await listPage(listing, (page) => rows.unitTypes.page(page, id));
      return { unitTypes: found.map(toMessage), nextPageToken };
    },
    updateUnitType: (request, context) =>
      write(platform, methods.updateUnitType, request, context, async (changes) => ({
        unitType: toMessage(await updateUnitType(changes, request)),
      })),
    deleteUnitType: (request, context) =>
      write(platform, methods.deleteUnitType, request, context, async (changes) => {
        await deleteUnitType(changes, request);
        return {};
      }),
  };
}

function toMessage({ id, clientId, name, version, createdAt, updatedAt }: UnitType): UnitTypeMessage {
  return { id, clientId, name, createdAt: new Date(createdAt), updatedAt: new Date(updatedAt), version };
}
