import type { Actor } from '../../domain/operator/audit.js';
import { auditAction } from '../adapters/operator/audit-events.js';
import { foreignTriggers } from '../checks/foreign-objects.js';
import { DATABASE_FILE } from '../data-directory.js';
import type { Reader } from '../database.js';
import { refuseUnlessMigrated, schemaDrift } from '../migrate.js';
import { reading } from '../recorded.js';
import { factsOf, latestChange, type Origin, originOf } from './copy-facts.js';
import type { DatabasePlace, OpenedDatabase } from './open-copy.js';
import { dumpPostgres } from './postgres-copy.js';
import { assertSound, copySqlite } from './sqlite-copy.js';
import { type ValidList, validIn } from './valid-list.js';

/** Copies the database into a new file, checks the copy, and reads its facts. The service may be running. */
export async function takeCopy(
  { dataDir, databaseUrl }: DatabasePlace,
  target: string,
  now: number,
  environment: Readonly<Record<string, string | undefined>>,
  warn: (message: string) => void,
): ReturnType<typeof takenOf> {
  const read = (reader: Reader) => takenOf(reader, now, warn);
  if (databaseUrl !== undefined) {
    return dumpPostgres(databaseUrl, target, environment, read, warn);
  }
  await copySqlite(dataDir, target);
  assertSound(target);
  return reading({ file: target }, read);
}

async function takenOf(reader: Reader, now: number, warn: (message: string) => void) {
  await refuseUnlessMigrated(reader);
  await warnOfForeign(reader, warn);
  return { facts: await factsOf(reader, latestChange(now)), valid: await validIn(reader, now) };
}

/** A restore refuses these. In a database of a newer release, this one cannot tell which are foreign. */
async function warnOfForeign(reader: Reader, warn: (message: string) => void): Promise<void> {
  const { newer } = await schemaDrift(reader);
  const foreign = newer.length > 0 ? [] : await foreignTriggers(reader);
  if (foreign.length > 0) {
    warn(
      `WARNING: \`integration restore\` refuses this backup, because it has the ${foreign.join(', the ')}, which this service did not make. Drop what is foreign, and make another backup.`,
    );
  }
}

/** Reads what is valid in a database. Tables that this does not read may be damaged. */
export async function readValid(
  place: DatabasePlace,
  now: number,
): Promise<{ origin: Origin; valid: ValidList }> {
  return reading(place, async (reader) => {
    await refuseUnlessMigrated(reader);
    return { origin: await originOf(reader, latestChange(now)), valid: await validIn(reader, now) };
  });
}

export async function refuseOtherRelease(place: DatabasePlace): Promise<void> {
  await reading(place, refuseUnlessMigrated);
}

/** For a backup: once this version has started, there is nothing to go back to. */
export async function refuseToBackUpOtherRelease(place: DatabasePlace): Promise<void> {
  const copy =
    place.databaseUrl === undefined ? `copy ${DATABASE_FILE} and ${DATABASE_FILE}-wal` : 'run pg_dump';
  const remedy = `Make the backup with that version. If it is 1.3.1, which has no such command, stop the service, ${copy}, and copy the key file: see “Upgrades and data” in the documentation.`;
  await reading(place, (reader) => refuseUnlessMigrated(reader, remedy));
}

/** Takes the time from the clock of the database, by which the domains find new records. */
export async function recordBackup(
  { write, clock }: Pick<OpenedDatabase, 'write' | 'clock'>,
  actor: Actor,
  folder: string,
): Promise<void> {
  await write((writer) =>
    auditAction(writer, clock(), actor, {
      type: 'database.backed_up',
      subject: { type: 'database', id: 'copy' },
      attributes: { folder },
    }),
  );
}
