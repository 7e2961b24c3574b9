import { type Command, Help, Option } from 'commander';
import { ConfigError, describeConfig, loadConfig } from '../../config/config.js';
import { readableSecrets } from '../../config/secret-files.js';
import { ROLE_NAMES, type RoleName, SECRETS_OF } from '../roles/role.js';
import { print, say } from './output/print.js';
import { asJson } from './output/printable.js';
import { screenOf } from './output/screen.js';

const CHECK_NOTES = `
Checks what a start checks: values and combinations of settings, misspelt names, files that cannot be read, a DATA_DIR that cannot be
made or written, certificates with the key of another one. Then it compares environment, issuer, encryption keys and migrations with
the database. With --offline it checks what can be checked before \`integration init\`. Without --role it checks the start of
\`integration serve\`. With --role it reads only what that role reads, for a machine or container with one role. It changes nothing.

Exit codes: 0 the service can start with these settings · 78 it cannot; each problem is a line on stderr

Examples:
  $ integration config check
  $ ENVIRONMENT=live integration config check --offline
  $ integration config check --role edge`;

export function addConfigCommand(program: Command): void {
  const command = program
    .command('config')
    .description('Print the settings in force, secrets masked')
    .option('--json', 'as one JSON object')
    .addHelpText(
      'after',
      '\nExamples:\n  $ integration config\n  $ ENVIRONMENT=demo integration config --json',
    )
    .action(({ json }: { json?: boolean }) => {
      const config = loadConfig(process.env, { secrets: readableSecrets(process.env) });
      const rows = describeConfig(config, process.env);
      print(json ? asJson(Object.fromEntries(rows.map(({ name, value }) => [name, value]))) : asTable(rows));
    });
  command
    .command('check')
    .description('Say whether the service can start with these settings')
    .option('--offline', 'do not read the database, and accept that there is no encryption key yet')
    .addOption(new Option('--role <role>', 'check the start of this role by itself').choices(ROLE_NAMES))
    .addHelpText('after', CHECK_NOTES)
    .action(async ({ offline, role }: { offline?: boolean; role?: RoleName }) => {
      const config = loadConfig(process.env, { strict: true, ...(role && { secrets: SECRETS_OF[role] }) });
      const { startProblems } = await import('./start-problems.js');
      const problems = await startProblems(config, { offline, role });
      if (problems.length > 0) {
        throw new ConfigError(problems);
      }
      const { doubtfulNames } = await import('../from-config.js');
      for (const problem of doubtfulNames(config, process.env)) {
        say(`Warning: ${problem}.`);
      }
      print(`The ${role ?? 'service'} can start with these settings.`);
    });
}

type Row = ReturnType<typeof describeConfig>[number];

/** Before each line of the purpose of a setting, on a terminal. */
const INDENT = '      ';
/** Narrower, wrapped text is hard to read. */
const LEAST_WIDTH = 40;

/**
 * Marks the settings that are set in the environment; the rest are defaults. On a terminal, the purpose of a
 * setting is below it, because values and purposes are too long for columns.
 */
export function asTable(rows: readonly Row[], screen = screenOf()): string {
  const nameWidth = Math.max(...rows.map(({ name }) => name.length));
  const valueWidth = Math.max(...rows.map(({ value }) => value.length));
  const lines = rows.map(({ name, value, isDefault, about }) => {
    const mark = isDefault ? ' ' : '*';
    if (screen === undefined) {
      return `${mark} ${name.padEnd(nameWidth)}  ${value.padEnd(valueWidth)}  ${about}`;
    }
    const purpose = new Help().boxWrap(about, Math.max(LEAST_WIDTH, screen.columns - INDENT.length));
    return `${mark} ${name}  ${value}\n${INDENT}${purpose.replaceAll('\n', `\n${INDENT}`)}`;
  });
  return `${lines.join('\n')}\n\n* set in the environment`;
}
