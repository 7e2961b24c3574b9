import { describeEnding } from './ending-suite.js';

describeEnding({
  operationId: 'showPasswordSet',
  statuses: [200, 405, 429, 500, 503],
  path: '/auth/password-set',
  heading: 'Your password is set',
});
