import { UserStatus } from '../../../generated/proto/integration/directory/v1/directory.js';
import { aUser } from '../../support/gateway/directory-answers.js';
import { describeRead } from './read-suite.js';

const user = aUser({ status: UserStatus.DELETED });

describeRead({
  operationId: 'getUser',
  statuses: [200, 304, 400, 401, 404, 405, 406, 429, 500, 503],
  messages: [{ user }],
  body: { ...user, status: 'DELETED', manager: null, role: null, createdAt: '2025-11-04T09:12:31.418Z' },
});
