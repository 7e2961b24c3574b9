import { aWorker } from '../../support/gateway/directory-answers.js';
import { describeRead } from './read-suite.js';

describeRead({
  operationId: 'listWorkers',
  statuses: [200, 304, 400, 401, 404, 405, 406, 429, 500, 503],
  body: [aWorker(), aWorker({ phone: null, jobTitles: [] })],
});
