import { aWorker } from '../../support/gateway/directory-answers.js';
import { describePaging } from './paging-suite.js';
import { describeRead } from './read-suite.js';

const units = [
  { id: 'oun_CvPCqQUK7G2vTQ8uWmrWzO', name: 'Kitchen' },
  { id: 'oun_b8QpSD4yQdOXEPZ2sFOYx1', name: 'Bakery' },
];
const place = { id: 'olo_3rjF9u0zCsDmSjbP5bZ7Ke', name: 'Old Port' };
const [placed, plain] = [
  aWorker({ organizationUnits: units, organizationUnit: units[1], organizationLocation: place }),
  aWorker({ phone: undefined }),
];

describeRead({
  operationId: 'listWorkersV2',
  statuses: [200, 304, 400, 401, 404, 405, 406, 429, 500, 503],
  messages: [{ workers: [placed, plain] }],
  body: [placed, { ...plain, phone: null, organizationUnit: null, organizationLocation: null }],
  askedWith: { withOrganization: true, limit: undefined, cursor: undefined },
});

describePaging('listWorkersV2', (count) => ({ workers: Array.from({ length: count }, () => aWorker()) }));
