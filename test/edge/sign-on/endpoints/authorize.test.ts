import { authorization } from './navigation-cases.js';
import { describeNavigation } from './navigation-suite.js';

describeNavigation({
  ...authorization,
  operationId: 'authorize',
  statuses: [200, 303, 400, 405, 429, 500, 503],
  verb: 'GET',
});
