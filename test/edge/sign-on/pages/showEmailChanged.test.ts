import { describeEnding } from './ending-suite.js';

describeEnding({
  operationId: 'showEmailChanged',
  statuses: [200, 405, 429, 500, 503],
  path: '/auth/email-changed',
  heading: 'Your email address has changed',
  onward: 'some of them only after a while. Sign in with the new address',
});
