import { describeEnding } from './ending-suite.js';

describeEnding({
  operationId: 'showEmailChanged',
  statuses: [200, 405, 429, 500, 503],
  path: '/auth/email-changed',
  heading: 'Your email address has changed',
  onward: 'Open your application and sign in with the new address',
});
