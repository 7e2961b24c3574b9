import { describeEnding } from './ending-suite.js';

describeEnding({
  operationId: 'showSignedOut',
  statuses: [200, 405, 429, 500, 503],
  path: '/auth/signed-out',
  heading: 'You are signed out',
  // Only this server knows of it.
  onward: 'Applications that you have open may keep you signed in: sign out of them too.',
});
