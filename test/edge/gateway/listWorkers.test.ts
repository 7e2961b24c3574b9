import { aWorker } from '../../support/gateway/directory-answers.js';
import { describeRead } from './read-suite.js';

const unit = { id: 'oun_CvPCqQUK7G2vTQ8uWmrWzO', name: 'Kitchen' };
const [placed, plain] = [
  aWorker({ organizationUnits: [unit], organizationUnit: unit }),
  aWorker({ phone: undefined, jobTitles: [] }),
];

const v1 = ({ id, firstName, lastName, fullName, email, jobTitles, location }: typeof placed) => ({
  id,
  firstName,
  lastName,
  fullName,
  email,
  jobTitles,
  location,
});

describeRead({
  operationId: 'listWorkers',
  statuses: [200, 304, 400, 401, 404, 405, 406, 429, 500, 503],
  messages: [{ workers: [placed, plain] }],
  body: [
    { ...v1(placed), phone: placed.phone },
    { ...v1(plain), phone: null },
  ],
  askedWith: { withOrganization: false, limit: undefined, cursor: undefined },
});
