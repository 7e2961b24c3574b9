import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import type { Unit as UnitMessage } from '../../../../generated/proto/integration/platform/v1/units.js';
import { getClient } from '../../../domain/platform/clients.js';
import { listPage } from '../../../domain/platform/listing.js';
import { createUnit, deleteUnit, getUnit, type Unit, updateUnit } from '../../../domain/platform/units.js';
import type { Handlers } from '../../handlers.js';
import { type PlatformDependencies, write } from './write.js';

export function unitHandlers(platform: PlatformDependencies): Handlers<typeof methods> {
  const { rows } = platform.unitOfWork;
  return {
    createUnit: (request, context) =>
      write(platform, methods.createUnit, request, context, async (changes) => {
        const { unit, subUnits } = await createUnit(changes, request);
        return { unit: toUnitMessage(unit), subUnits: subUnits.map(toUnitMessage) };
      }),
    getUnit: async ({ unitId }) => ({ unit: toUnitMessage(await getUnit(rows, unitId)) }),
    listUnits: async ({ clientId, unitTypeId, parentUnitId, ...listing }) => {
      const { id } = await getClient(rows, clientId);
      const { rows: found, nextPageToken } = await listPage(listing, (page) =>
        rows.units.page(page, id, { unitTypeId, parentUnitId }),
      );
      return { units: found.map(toUnitMessage), nextPageToken };
    },
    updateUnit: (request, context) =>
      write(platform, methods.updateUnit, request, context, async (changes) => ({
        unit: toUnitMessage(await updateUnit(changes, request)),
      })),
    deleteUnit: (request, context) =>
      write(platform, methods.deleteUnit, request, context, async (changes) => {
        await deleteUnit(changes, request);
        return {};
      }),
  };
}

export function toUnitMessage(unit: Unit): UnitMessage {
  return {
    id: unit.id,
    clientId: unit.clientId,
    unitTypeId: unit.unitTypeId,
    name: unit.name,
    unitCode: unit.unitCode ?? undefined,
    description: unit.description ?? undefined,
    parentUnitId: unit.parentUnitId ?? undefined,
    createdAt: new Date(unit.createdAt),
    updatedAt: new Date(unit.updatedAt),
    version: unit.version,
  };
}
