import { describeRead } from './read-suite.js';

const unitsTypes = [{ id: 'out_3rjF9u0zCsDmSjbP5bZ7Ke', name: 'Department' }];
const locations = [{ id: 'olo_3rjF9u0zCsDmSjbP5bZ7Ke', name: 'Old Port' }];
const [unit, unitTypeId] = ['oun_CvPCqQUK7G2vTQ8uWmrWzO', unitsTypes[0]?.id];

describeRead({
  operationId: 'getOrganizationStructure',
  statuses: [200, 304, 400, 401, 404, 405, 406, 429, 500, 503],
  body: {
    unitsTypes,
    units: [
      { id: unit, name: 'Kitchen', description: 'All that is warm', unitTypeId, parentUnitId: null },
      {
        ...{ id: 'oun_b8QpSD4yQdOXEPZ2sFOYx1', name: 'Bakery' },
        ...{ description: null, unitTypeId, parentUnitId: unit },
      },
    ],
    locations,
  },
});
