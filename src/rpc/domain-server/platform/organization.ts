import { listLargePage, listPage } from '../../../domain/platform/listing.js';
import { createClient, getClient, updateClient } from '../../../domain/platform/organization/clients.js';
import {
  createInstance,
  getInstance,
  updateInstance,
} from '../../../domain/platform/organization/instances.js';
import {
  addJobTitle,
  listJobTitles,
  removeJobTitle,
  renameJobTitle,
} from '../../../domain/platform/organization/job-titles.js';
import {
  createLocation,
  deleteLocation,
  getLocation,
  updateLocation,
} from '../../../domain/platform/organization/locations.js';
import {
  createRole,
  deleteRole,
  editRolePermissions,
  getRole,
} from '../../../domain/platform/organization/roles.js';
import {
  createUnitType,
  deleteUnitType,
  getUnitType,
  updateUnitType,
} from '../../../domain/platform/organization/unit-types.js';
import { createUnit, deleteUnit, getUnit, updateUnit } from '../../../domain/platform/organization/units.js';
import { type HandlerDependencies, type PlatformHandlers, writing } from './write.js';

/** Instances, clients, and what clients are made of besides people. */
export function organizationHandlers(platform: HandlerDependencies): PlatformHandlers {
  return {
    ...writing(platform, {
      createInstance: async (changes, request) => ({ instance: await createInstance(changes, request) }),
      updateInstance: async (changes, request) => ({ instance: await updateInstance(changes, request) }),
      createClient: async (changes, request) => ({ client: await createClient(changes, request) }),
      updateClient: async (changes, request) => ({ client: await updateClient(changes, request) }),
      createRole: async (changes, request) => ({ role: await createRole(changes, request) }),
      editRolePermissions,
      deleteRole,
      createUnitType,
      updateUnitType: async (changes, request) => ({ unitType: await updateUnitType(changes, request) }),
      deleteUnitType,
      createUnit,
      updateUnit: async (changes, request) => ({ unit: await updateUnit(changes, request) }),
      deleteUnit,
      createLocation: async (changes, request) => ({ location: await createLocation(changes, request) }),
      updateLocation: async (changes, request) => ({ location: await updateLocation(changes, request) }),
      deleteLocation,
      addJobTitle: async (changes, request) => ({ title: await addJobTitle(changes, request) }),
      renameJobTitle,
      removeJobTitle,
    }),
    getInstance: async ({ instanceId }, { rows }) => ({ instance: await getInstance(rows, instanceId) }),
    getClient: async ({ clientId }, { rows }) => ({ client: await getClient(rows, clientId) }),
    getRole: async ({ roleId }, { rows }) => ({ role: await getRole(rows, roleId) }),
    getUnitType: async ({ unitTypeId }, { rows }) => ({ unitType: await getUnitType(rows, unitTypeId) }),
    getUnit: async ({ unitId }, { rows }) => ({ unit: await getUnit(rows, unitId) }),
    getLocation: async ({ locationId }, { rows }) => ({ location: await getLocation(rows, locationId) }),
    listInstances: async (listing, { rows }) => {
      const found = await listPage(listing, (page) => rows.instances.page(page));
      return { ...found, instances: found.rows };
    },
    listClients: async ({ instanceId, ...listing }, { rows }) => {
      const found = await listPage(listing, (page) => rows.clients.page(page, instanceId));
      return { ...found, clients: found.rows };
    },
    listRoles: async ({ clientId, ...listing }, { rows }) => {
      const { id } = await getClient(rows, clientId);
      const found = await listLargePage(
        listing,
        (page) => rows.roles.sizes(page, id),
        (ids) => rows.roles.findAll(id, ids),
      );
      return { ...found, roles: found.rows };
    },
    listUnitTypes: async ({ clientId, ...listing }, { rows }) => {
      const { id } = await getClient(rows, clientId);
      const found = await listPage(listing, (page) => rows.unitTypes.page(page, id));
      return { ...found, unitTypes: found.rows };
    },
    listUnits: async ({ clientId, unitTypeId, parentUnitId, ...listing }, { rows }) => {
      const { id } = await getClient(rows, clientId);
      const filter = { unitTypeId, parentUnitId };
      const found = await listPage(listing, (page) => rows.units.page(page, id, filter));
      return { ...found, units: found.rows };
    },
    listLocations: async ({ clientId, ...listing }, { rows }) => {
      const { id } = await getClient(rows, clientId);
      const found = await listPage(listing, (page) => rows.locations.page(page, id));
      return { ...found, locations: found.rows };
    },
    listJobTitles: ({ clientId, ...listing }, { rows }) => listJobTitles(rows, clientId, listing),
  };
}
