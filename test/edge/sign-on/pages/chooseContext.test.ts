import { UserType } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import { describeForm } from './form-suite.js';
import { CSRF_TOKEN, INTERACTION } from './page-suite.js';

describeForm({
  operationId: 'chooseContext',
  statuses: [200, 303, 400, 405, 408, 413, 415, 429, 500, 503],
  path: '/auth/choose-context',
  method: 'chooseContext',
  fields: { interaction: INTERACTION, csrf_token: CSRF_TOKEN, context: 'USER:cli_x9sS1bFSklla6YZ7pnS811' },
  askedWith: {
    interaction: INTERACTION,
    csrfToken: CSRF_TOKEN,
    userType: UserType.USER,
    clientId: 'cli_x9sS1bFSklla6YZ7pnS811',
  },
  unfit: [
    ['a context of no type', { context: 'cli_x9sS1bFSklla6YZ7pnS811' }],
    ['a context of an unknown type', { context: 'OWNER:cli_x9sS1bFSklla6YZ7pnS811' }],
    ['a context of another kind of id', { context: 'USER:wrk_x9sS1bFSklla6YZ7pnS811' }],
    ['a context with more behind it', { context: 'USER:cli_x9sS1bFSklla6YZ7pnS811:x' }],
  ],
});
