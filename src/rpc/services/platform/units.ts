import { PlatformServiceService as methods } from '../../../../generated/proto/integration/platform/v1/platform.js';
import type { Unit as UnitMessage } from '../../../../generated/proto/integration/platform/v1/units.js';
import { getClient } from '../../../domain/platform/clients.js';
import { listPage } from '../../../domain/platform/listing.js';
import { createUnit, deleteUnit, getUnit, type Unit, updateUnit } from '../../../domain/platform/units.js';
import type { Handlers } from '../../handlers.js';
import { type PlatformDependencies, write } from './write.js';

export function unitHandlers(platform: PlatformDependencies): Handlers<typeof methods> {
  const { unitOfWork } = platform;
  return {
    createUnit: (request, context) =>
      write(platform, methods.createUnit, request, context, async (changes) => {
        const { unit, subUnits } = await createUnit(changes, request);
        return { unit: toUnitMessage(unit), subUnits: subUnits.map(toUnitMessage) };
      }),
    getUnit: ({ unitId }) =>
      unitOfWork.run(async (changes) => ({ unit: toUnitMessage(await getUnit(changes, unitId)) })),
    listUnits: ({ clientId, unitTypeId, parentUnitId, ...listing }) =>
      unitOfWork.run(async (changes) => {
        const { id } = await getClient(changes, clientId);
        const { rows, nextPageToken } = await listPage(listing, (page) =>
          changes.units.page(page, id, { unitTypeId, parentUnitId }),
        );
        return { units: rows.map(toUnitMessage), nextPageToken };
      }),
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
