import { sql } from 'kysely';
import type { Reader } from '../database.js';
import { damageIn } from '../store-error.js';
import { type Check, foundIn } from './check.js';

const MOST_FAULTS = 10;
const MEBIBYTE = 1_048_576;

/** SQLite only: PostgreSQL checks its pages itself if data checksums are on. */
export const pagesAreSound: Check<{ databaseBytes: number; thorough?: boolean }> = {
  name: 'integrity',
  about: 'The pages of the database file and the references between its rows are sound.',
  severity: 'error',
  remedy:
    'Stop the service, keep the file for an investigation, and restore the newest backup into an empty directory.',
  find: async (reader, { databaseBytes, thorough = false }) => {
    // The quick check does not compare the entries of indexes with their rows.
    const faults = await faultsIn(reader, thorough ? 'integrity_check' : 'quick_check');
    return foundIn(faults, `${Math.ceil(databaseBytes / MEBIBYTE)} MiB checked.`);
  },
};

async function faultsIn(reader: Reader, check: 'integrity_check' | 'quick_check'): Promise<string[]> {
  try {
    const pages = await rowsOf<Record<string, string>>(reader, `pragma ${check}(${MOST_FAULTS})`);
    const references = await rowsOf<{ table: string; parent: string }>(reader, 'pragma foreign_key_check');
    return [
      ...pages.map((row) => row[check] as string).filter((fault) => fault !== 'ok'),
      ...references.map(({ table, parent }) => `a row of ${table} refers to a missing row of ${parent}`),
    ];
  } catch (error) {
    // Both end at a page that they cannot read.
    const damage = damageIn(error);
    if (damage === undefined) {
      throw error;
    }
    return [damage];
  }
}

async function rowsOf<Row>(reader: Reader, pragma: string): Promise<Row[]> {
  const { rows } = await sql.raw<Row>(pragma).execute(reader);
  return rows;
}
