import { UserStatus } from '../../../generated/proto/integration/directory/v1/directory.js';
import { aUser } from '../../support/gateway/directory-answers.js';
import { describePaging } from './paging-suite.js';
import { describeRead } from './read-suite.js';

const manager = { id: 'usr_HCZONjGb2Vig7IXUdMsJi5', email: 'owner@example.com' };
const [managed, nameless] = [
  aUser({ manager: { ...manager, firstName: 'Tobias' }, role: { id: 'role_1', name: 'Owner' } }),
  aUser({
    firstName: undefined,
    lastName: undefined,
    fullName: undefined,
    status: UserStatus.INVITED,
  }),
];
const createdAt = '2025-11-04T09:12:31.418Z';

describeRead({
  operationId: 'listUsers',
  statuses: [200, 304, 400, 401, 404, 405, 406, 429, 500, 503],
  messages: [{ users: [managed, nameless] }],
  body: [
    {
      ...managed,
      status: 'ACTIVE',
      manager: { ...manager, firstName: 'Tobias', lastName: null, fullName: null },
      createdAt,
    },
    {
      ...nameless,
      firstName: null,
      lastName: null,
      fullName: null,
      status: 'INVITED',
      manager: null,
      role: null,
      createdAt,
    },
  ],
  askedWith: { limit: undefined, cursor: undefined },
});

describePaging('listUsers', (count) => ({ users: Array.from({ length: count }, () => aUser()) }));
