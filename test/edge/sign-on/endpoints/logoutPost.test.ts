import { signOut } from './navigation-cases.js';
import { describeNavigation } from './navigation-suite.js';

describeNavigation({
  ...signOut,
  operationId: 'logoutPost',
  statuses: [303, 400, 405, 408, 413, 415, 429, 500, 503],
  verb: 'POST',
});
