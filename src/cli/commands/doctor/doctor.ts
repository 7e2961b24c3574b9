import type { Command } from 'commander';

const NOTES = `
Checks settings, files, ports, disk, certificates, the database that DATA_DIR or DATABASE_URL names, and Temporal. It changes no data; the
service may run at the same time. Run it as the user and with the settings of the service.

Each check has a time limit and reads no large table as a whole. --thorough removes these limits and checks all rows and pages.
On PostgreSQL, a statement still ends after 8 s, and its check then fails.

Exit codes: 0 nothing found · 1 errors found, or a check failed · 3 only warnings found · 78 the settings cannot be used

Examples:
  $ integration doctor
  $ DATA_DIR=/var/lib/integration-service/live integration doctor --json`;

export interface DoctorOptions {
  json?: boolean;
  thorough?: boolean;
}

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('Check the installation and its database, and say what to do about each finding')
    .option('--json', 'as one JSON object')
    .option('--thorough', 'without limits of time and size')
    .addHelpText('after', NOTES)
    .action(async (options: DoctorOptions) => {
      const { doctor } = await import('./doctor-action.js');
      await doctor(process.env, options);
    });
}
