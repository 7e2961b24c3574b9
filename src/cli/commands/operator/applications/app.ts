import { type Command, Option } from 'commander';
import { collected, collectedOf, idOf, redirectUris, seconds } from '../../options.js';
import { addGroup, addVerb, EXPECTED_VERSION, LIMIT, overlapOption, YES } from '../group.js';
import { ALGORITHMS } from '../keys/signing-key.js';
import * as actions from './app-actions.js';

export function addAppCommands(program: Command): void {
  const group = addGroup(
    program,
    'app',
    'Applications that people sign in to',
    'app create "Rota Planner" --type confidential --redirect-uri ins_…=https://rota.example.com/callback',
    'app add-redirect-uri app_… ins_…=https://eu.rota.example.com/callback',
    'app rotate-secret app_… --overlap 24h',
    'app disable app_…',
  );
  addRegistration(group);
  addLifeVerbs(group);
  addPartVerbs(group);
}

function addRegistration(group: Command): void {
  addSettings(
    addVerb(group, 'create', actions.create, {
      about: 'Register an application; its secret is shown once',
      example: '"Rota Planner" --type public --redirect-uri ins_…=com.example.rota:/callback',
    })
      .argument('<name>', 'as people see it when they approve access')
      .addOption(
        new Option('--type <type>', 'whether it can keep a secret')
          .choices(['confidential', 'public'])
          .makeOptionMandatory(),
      )
      .option(
        '--redirect-uri <instance=uri>',
        'where people of that instance return; may be repeated',
        redirectUris,
      ),
  );
  addSettings(
    addVerb(group, 'update <application>', actions.update, {
      about: 'Change the name or settings of an application',
      example: 'app_… --access-token-lifetime 15m',
    })
      .option('--name <name>', 'as people see it when they approve access')
      .option('--default-lifetimes', 'use the lifetimes of the service for all tokens')
      .option('--no-post-logout-redirect-uris', 'remove all post-logout redirect URIs')
      .option(...EXPECTED_VERSION),
    { isUpdate: true },
  );
}

const SCOPES = ['openid', 'profile', 'email'];
const GRANTS = ['authorization_code', 'refresh_token'];
const RULES = ['required', 'optional'];

/** What can be set at registration and later. Defaults are those of registration. */
function addSettings(command: Command, { isUpdate = false } = {}): Command {
  const byDefault = (value: string) => (isUpdate ? '' : `; ${value} unless given`);
  const list = isUpdate ? '; may be repeated; replaces the present ones' : '; may be repeated';
  const removal = isUpdate ? '; "" removes it' : '';
  const pkce = new Option(
    '--pkce <rule>',
    `whether it must use PKCE; only a confidential one may do without${byDefault('required')}`,
  );
  const algorithm = new Option(
    '--id-token-algorithm <name>',
    `what its ID tokens are signed with${byDefault('RS256')}`,
  );
  return command
    .option(
      '--scope <scope>',
      `scope it may ask for, of ${SCOPES.join(', ')}${list}${byDefault('all')}`,
      collectedOf(SCOPES),
    )
    .option(
      '--grant-type <grant>',
      `grant it may use, of ${GRANTS.join(', ')}${list}${byDefault('both')}`,
      collectedOf(GRANTS),
    )
    .addOption(pkce.choices(RULES))
    .option('--first-party', 'our own: people are not asked to approve access, except with prompt=consent')
    .option('--no-first-party', `by another company: people are asked${isUpdate ? '' : ' (default)'}`)
    .option('--sign-out-ends-tokens', 'signing out ends the tokens of that session, unless it has lapsed')
    .option(
      '--no-sign-out-ends-tokens',
      `its tokens stay valid after a sign-out${isUpdate ? '' : ' (default)'}`,
    )
    .addOption(algorithm.choices(ALGORITHMS))
    .option(
      '--access-token-lifetime <duration>',
      `how long each is valid${byDefault('1h')}; some libraries renew it a minute early, so give 5m or more`,
      seconds,
    )
    .option('--refresh-token-lifetime <duration>', `how long each is valid${byDefault('30d')}`, seconds)
    .option('--id-token-lifetime <duration>', `how long each is valid${byDefault('1h')}`, seconds)
    .option(
      '--refresh-family-lifetime <duration>',
      `how long one sign-in can be refreshed at most${byDefault('365d')}`,
      seconds,
    )
    .option(
      '--post-logout-redirect-uri <uri>',
      `where people may be sent after signing out${list}`,
      collected,
    )
    .option('--logo-uri <url>', `logo on the page where people approve access${removal}`)
    .option('--policy-uri <url>', `privacy policy, linked there${removal}`)
    .option('--tos-uri <url>', `terms of service, linked there${removal}`)
    .option(
      '--initiate-login-uri <url>',
      `where signing in begins, linked once an invited person has set a password${removal}`,
    );
}

function addLifeVerbs(group: Command): void {
  addVerb(group, 'list', actions.list, {
    about: 'List the applications, newest first',
    example: '--instance ins_…',
  })
    .option('--instance <instance>', 'only those with a redirect URI for this instance', idOf('ins'))
    .option(...LIMIT);
  addVerb(group, 'show <application>', actions.show, { about: 'Show one application' });
  addVerb(group, 'disable <application>', actions.disable, {
    about: 'Disable an application at once: no sign-in, no refresh',
  });
  addVerb(group, 'enable <application>', actions.enable, { about: 'Enable an application again' });
}

function addPartVerbs(group: Command): void {
  addVerb(group, 'add-redirect-uri <application>', actions.addRedirectUri, {
    about: 'Register an address to which people of an instance return',
    example: 'app_… ins_…=https://rota.example.com/callback',
  }).argument('<instance=uri>', 'the instance, and the address as it will be asked for', redirectUris);
  addVerb(group, 'remove-redirect-uri <application>', actions.removeRedirectUri, {
    about: 'Remove a redirect URI; sign-ins that began with it end in an error page',
    example: 'app_… https://rota.example.com/callback',
  }).argument(
    '<uri>',
    'the address as registered. To replace the last one of an instance, add the new one first: without any, the service refuses tokens for people of that instance',
  );
  addVerb(group, 'rotate-secret <application>', actions.rotateSecret, {
    about: 'Add a secret, shown once, and let the present ones end after an overlap',
    example: 'app_… --overlap 24h',
  })
    .addOption(overlapOption('all work', 'ones'))
    .option('--yes', 'do not ask for confirmation when --overlap is 0');
  addVerb(group, 'revoke-secret <application>', actions.revokeSecret, {
    about: 'End one secret at once',
    example: 'app_… sec_… --yes',
  })
    .argument('<secret>', 'id of the secret, as `app show` lists it', idOf('sec'))
    .option(...YES);
}
