import { aUser } from '../../support/gateway/directory-answers.js';
import { describeRead } from './read-suite.js';

describeRead({
  operationId: 'getUser',
  statuses: [200, 304, 400, 401, 404, 405, 406, 429, 500, 503],
  body: aUser({ status: 'DELETED' }),
});
