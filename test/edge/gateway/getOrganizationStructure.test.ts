import { describeRead } from './read-suite.js';

const unitTypes = [{ id: 'out_3rjF9u0zCsDmSjbP5bZ7Ke', name: 'Department' }];
const locations = [{ id: 'olo_3rjF9u0zCsDmSjbP5bZ7Ke', name: 'Old Port' }];
const top = {
  id: 'oun_CvPCqQUK7G2vTQ8uWmrWzO',
  name: 'Kitchen',
  description: 'All that is warm',
  unitTypeId: unitTypes[0]?.id,
};
const below = {
  id: 'oun_b8QpSD4yQdOXEPZ2sFOYx1',
  name: 'Bakery',
  unitTypeId: unitTypes[0]?.id,
  parentUnitId: top.id,
};

describeRead({
  operationId: 'getOrganizationStructure',
  statuses: [200, 304, 400, 401, 404, 405, 406, 429, 500, 503],
  messages: [{ organizationStructure: { unitTypes, units: [top, below], locations } }],
  body: {
    unitsTypes: unitTypes,
    units: [
      { ...top, parentUnitId: null },
      { ...below, description: null },
    ],
    locations,
  },
});
