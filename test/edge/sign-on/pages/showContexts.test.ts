import { InteractionPage, UserType } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import { describePage, INTERACTION, shared } from './page-suite.js';

const worker = {
  userType: UserType.WORKER,
  clientId: 'cli_xNL3k5MFYkU0K3ppS8ZsJC',
  clientName: 'Alpine & <Co>',
  lastUsed: false,
  invited: false,
};
const other = { ...worker, clientId: 'cli_q7Fh2mX0aVbN4sK9tYcW1e', clientName: 'Aldgate Foods' };
const user = {
  userType: UserType.USER,
  clientId: 'cli_x9sS1bFSklla6YZ7pnS811',
  clientName: 'Northwind Traders',
  roleName: 'Owner',
  lastUsed: true,
  invited: false,
};
/** Names itself like the company of the person. */
const twin = {
  ...user,
  clientId: 'cli_0aB1cD2eF3gH4iJ5kL6mN7',
  clientName: 'Nórthwind  traders.',
  lastUsed: false,
  invited: true,
};

describePage({
  operationId: 'showContexts',
  statuses: [200, 303, 400, 405, 429, 500, 503],
  path: '/auth/choose-context',
  method: 'showInteraction',
  secret: 'interaction',
  heading: 'Continue as',
  result: {
    $case: 'contextPage',
    value: {
      interaction: shared,
      accountEmail: 'maria@example.com',
      contexts: [worker, other, twin, user],
      refusals: [{ input: 'context', message: 'You no longer have this role.' }],
    },
  },
  shows: [
    /<form method="post" action="\/auth\/choose-context\?/,
    /<form method="post" action="\/auth\/cancel\?[\s\S]*name="interaction" value="[\w-]+"[\s\S]*name="csrf_token" value="[\w-]+"[\s\S]*>Cancel<\/button>/,
    // The one used last comes before the others, which are in the order of their names.
    /name="context" value="USER:cli_x9sS1bFSklla6YZ7pnS811"[\s\S]*Aldgate Foods[\s\S]*Alpine &amp; &lt;Co&gt;/,
    // Companies that look alike are told apart by their ids, and by what the person has used.
    /Northwind Traders<\/b><span>Dashboard user · Owner · cli_x9sS1bFSklla6YZ7pnS811<\/span><\/span><span class="last">Last used<\/span><\/button>/,
    /Nórthwind {2}traders\.<\/b><span>Dashboard user · Owner · cli_0aB1cD2eF3gH4iJ5kL6mN7<\/span><\/span><span class="last">Not used yet<\/span><\/button>/,
    /Alpine &amp; &lt;Co&gt;<\/b><span>Worker<\/span><\/span><\/button>/,
    'Signed in as <b>maria@example.com</b>',
    `href="/auth/sign-in?interaction=${INTERACTION}"`,
    '<title>Error: Continue as · ',
    // The first choice has the focus, and a screen reader reads the error with it.
    /<div class="alert" id="form-error" role="alert">.*You no longer have this role\.[\s\S]*value="USER:cli_x9sS1bFSklla6YZ7pnS811" aria-describedby="form-error" autofocus>/,
    /value="WORKER:cli_xNL3k5MFYkU0K3ppS8ZsJC">/,
  ],
  askedWith: { page: InteractionPage.CHOOSE_CONTEXT, interaction: INTERACTION },
});
