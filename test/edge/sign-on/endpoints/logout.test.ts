import { signOut } from './navigation-cases.js';
import { describeNavigation } from './navigation-suite.js';

describeNavigation({
  ...signOut,
  operationId: 'logout',
  statuses: [303, 400, 405, 429, 500, 503],
  verb: 'GET',
});
