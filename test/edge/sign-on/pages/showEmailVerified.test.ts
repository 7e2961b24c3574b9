import { describeEnding } from './ending-suite.js';

describeEnding({
  operationId: 'showEmailVerified',
  statuses: [200, 405, 429, 500, 503],
  path: '/auth/email-verified',
  heading: 'Your email address is verified',
  onward: 'Go on in your application',
});
