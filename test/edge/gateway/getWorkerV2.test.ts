import { aWorker } from '../../support/gateway/directory-answers.js';
import { describeRead } from './read-suite.js';

const worker = aWorker({ phone: undefined, organizationUnit: undefined });

describeRead({
  operationId: 'getWorkerV2',
  statuses: [200, 304, 400, 401, 404, 405, 406, 429, 500, 503],
  messages: [{ worker }],
  body: { ...worker, phone: null, organizationUnit: null, organizationLocation: null },
});
