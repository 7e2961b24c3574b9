import { aUser } from '../../support/gateway/directory-answers.js';
import { describePaging } from './paging-suite.js';
import { describeRead } from './read-suite.js';

const names = { firstName: 'Tobias', lastName: null, fullName: null };
const manager = { id: 'usr_HCZONjGb2Vig7IXUdMsJi5', email: 'owner@example.com', ...names } as const;

describeRead({
  operationId: 'listUsers',
  statuses: [200, 304, 400, 401, 404, 405, 406, 429, 500, 503],
  body: [aUser({ manager, role: { id: 'role_1', name: 'Owner' } }), aUser({ firstName: null })],
});

describePaging('listUsers', aUser);
