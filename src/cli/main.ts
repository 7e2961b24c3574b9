#!/usr/bin/env node
import { type Command, Help, Option } from 'commander';
import { loadConfig } from '../config/config.js';
import { packageVersion, unsuitableNode } from '../config/package.js';
import { CopyError } from '../store/store-error.js';
import { FailedCall, Unfinished, UsageError } from './commands/errors.js';
import { addWorkerCommands } from './commands/operator/directory/worker.js';
import { WholeCommand } from './commands/whole-command.js';
import { ROLE_NAMES, type RoleName, SECRETS_OF } from './roles/role.js';
import { EXIT_CANNOT_START, EXIT_FAILED, exitCodeOfStart } from './startup-error.js';

const ABOUT: Record<RoleName, string> = {
  domain: 'Run only the domain: the rules and the store, behind gRPC',
  worker: 'Run only the worker, which sends webhooks; its verbs manage the people who work for clients',
  edge: 'Run only the edge: the HTTP listeners',
};

const OPTIONS_OF_CALL = ['--address', '--token', '--ca', '--help'];

const EXIT_USAGE = 2;

const SETTINGS = `
Settings come from the environment:
\`integration config\` lists them with their values.`;

const EXIT_CODES = `
Exit codes: 0 done, or ended as asked · 1 failed · 2 wrong usage ·
3 only warnings (doctor) · 78 cannot start with these settings`;

// Without a listener, Node would let every user of the machine debug the process, which holds keys.
// Tests load this file several times.
if (process.listenerCount('SIGUSR1') === 0) {
  process.on('SIGUSR1', () => undefined);
}

const unsuitable = unsuitableNode();
if (unsuitable !== undefined) {
  process.stderr.write(`${unsuitable}\n`);
  process.exit(EXIT_CANNOT_START);
}

const program = new WholeCommand('integration')
  .description('The integration service: sign-on, gateway API and webhooks.')
  .version(packageVersion, '-V, --version', 'print the version')
  .helpOption('-h, --help', 'show this help')
  .helpCommand('help [command]', 'Show the help of a command')
  .addHelpText('after', SETTINGS + EXIT_CODES)
  .configureHelp({
    optionDescription: describedOption,
    visibleOptions: ownFirst,
    subcommandTerm: termOf,
    minWidthToWrap: 20,
  })
  .showHelpAfterError('(--help shows the usage)')
  // Otherwise a verb accepts the options of the command above and ignores them: `config check --json`.
  .enablePositionalOptions()
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : EXIT_USAGE));

program
  .command('serve')
  .description('Run all roles on this machine, under one supervisor')
  .addHelpText(
    'after',
    `${SETTINGS}\n\nExamples:\n  $ ENVIRONMENT=demo integration serve\n  $ GATEWAY_PORT=8080 integration serve`,
  )
  .action(async () => {
    const { serve } = await import('./supervisor/serve.js');
    await serve(loadConfig(process.env, { strict: true }), process.env);
  });

for (const role of ROLE_NAMES) {
  const command = program
    .command(role)
    .description(ABOUT[role])
    .addOption(
      new Option('--ops-socket <path>', 'where the supervisor asks for health and metrics').hideHelp(),
    )
    .addHelpText('after', SETTINGS)
    .action(async ({ opsSocket }: { opsSocket?: string }) => {
      const { runRole } = await import('./roles/run-role.js');
      // The supervisor has refused misspelt settings, and passes only the secrets that the role needs.
      const strict = opsSocket === undefined;
      await runRole(role, loadConfig(process.env, { strict, secrets: SECRETS_OF[role] }), opsSocket);
    });
  if (role === 'worker') {
    addWorkerCommands(command);
  }
}
// A role starts faster without the commands, which it does not need.
if (![...ROLE_NAMES, 'serve'].some((name) => name === process.argv[2])) {
  const { addCommands } = await import('./commands/all.js');
  addCommands(program);
}
// Empty means unset, as for settings. Commander would take the empty text for the value of an option.
for (const [name, value] of Object.entries(process.env)) {
  if (name.startsWith('INTEGRATION_') && value === '') {
    delete process.env[name];
  }
}

try {
  await program.parseAsync();
} catch (error) {
  const exitCode = exitCodeOf(error);
  const { message, stack } = error as Error;
  // It ignores errors of stderr: without a reader, an uncaught EPIPE would replace the exit code.
  const { say } = await import('./commands/output/print.js');
  say(exitCode === undefined ? `${stack}` : message);
  process.exitCode = exitCode ?? EXIT_FAILED;
}

/** Commander's own help does not show which options are required. */
function describedOption(option: Option): string {
  return `${option.mandatory ? 'required; ' : ''}${new Help().optionDescription(option)}`;
}

/** Most commands have the same options for the call; those of the command itself tell more. */
function ownFirst(command: Command): Option[] {
  const options = new Help().visibleOptions(command);
  const isOwn = ({ long }: Option) => !OPTIONS_OF_CALL.includes(long ?? '');
  return [...options.filter(isOwn), ...options.filter((option) => !isOwn(option))];
}

/** Without `[options]`, which every verb has: descriptions need the room. */
function termOf(command: Command): string {
  return new Help().subcommandTerm(command).replace(' [options]', '');
}

/** Undefined for an unexpected error: only those print a stack trace. The system says what it refused. */
function exitCodeOf(error: unknown): number | undefined {
  if (error instanceof UsageError) {
    return EXIT_USAGE;
  }
  const isFailure = [FailedCall, Unfinished, CopyError].some((kind) => error instanceof kind);
  const isNamed = isFailure || (error as NodeJS.ErrnoException).syscall !== undefined;
  return exitCodeOfStart(error) ?? (isNamed ? EXIT_FAILED : undefined);
}
