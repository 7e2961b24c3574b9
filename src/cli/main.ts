#!/usr/bin/env node
import { Command } from 'commander';
import { ConfigError, loadConfig } from '../config/config.js';
import { packageVersion } from '../config/package.js';
import { ServiceError } from '../errors/service-error.js';
import { callCommand } from './commands/call.js';
import { configCommand } from './commands/config.js';
import { UsageError } from './commands/usage-error.js';
import { type RoleName, roleNames } from './roles/role.js';
import { EXIT_CANNOT_START, StartupError } from './startup-error.js';

const ABOUT: Record<RoleName, string> = {
  domain: 'Run the rules and the store behind gRPC',
  worker: 'Run the Temporal worker',
  edge: 'Run the HTTP listeners',
};

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const program = new Command('integration')
  .description('The integration service: sign-on, gateway API and webhooks.')
  .version(packageVersion)
  .showHelpAfterError('(integration --help shows how it goes)')
  .configureHelp({ showGlobalOptions: true })
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : EXIT_USAGE));

program
  .command('serve')
  .description('Run all roles on this machine, under one supervisor')
  .addHelpText(
    'after',
    '\nExamples:\n  $ ENVIRONMENT=demo integration serve\n  $ GATEWAY_PORT=8080 integration serve',
  )
  .action(async () => {
    const { serve } = await import('./supervisor/serve.js');
    await serve(loadConfig(process.env), process.env);
  });

for (const role of roleNames) {
  program
    .command(role)
    .description(`${ABOUT[role]}, by itself`)
    .option('--ops-socket <path>', 'answer health and metrics on this socket instead of METRICS_PORT')
    .action(async (options: { opsSocket?: string }) => {
      const { runRole } = await import('./roles/run-role.js');
      await runRole(role, loadConfig(process.env), options);
    });
}

program.addCommand(configCommand());
program.addCommand(callCommand());

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = exitCodeOf(error);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof ConfigError || error instanceof StartupError) {
    return EXIT_CANNOT_START;
  }
  if (error instanceof UsageError) {
    return EXIT_USAGE;
  }
  if (!(error instanceof ServiceError)) {
    process.stderr.write(`${(error as Error).stack}\n`);
  }
  return EXIT_FAILED;
}
