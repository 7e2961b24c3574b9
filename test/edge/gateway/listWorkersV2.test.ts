import { aWorkerV2 } from '../../support/gateway/directory-answers.js';
import { describePaging } from './paging-suite.js';
import { describeRead } from './read-suite.js';

const units = [
  { id: 'oun_CvPCqQUK7G2vTQ8uWmrWzO', name: 'Kitchen' },
  { id: 'oun_b8QpSD4yQdOXEPZ2sFOYx1', name: 'Bakery' },
] as const;
const place = { id: 'olo_3rjF9u0zCsDmSjbP5bZ7Ke', name: 'Old Port' } as const;

describeRead({
  operationId: 'listWorkersV2',
  statuses: [200, 304, 400, 401, 404, 405, 406, 429, 500, 503],
  body: [
    aWorkerV2({ organizationUnits: [...units], organizationUnit: units[1], organizationLocation: place }),
    aWorkerV2({ phone: null }),
  ],
});

describePaging('listWorkersV2', aWorkerV2);
