import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { type SecretSettingName, secretSettings } from './settings.js';

export type Source = Readonly<Record<string, string | undefined>>;

/** Refused permissions, as for the key file: any for others; write and execute for the group. */
const TOO_OPEN = 0o037;
const MAX_BYTES = 65_536;

const REASONS: Record<string, string> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'this user may not read',
};

/** Reads secret settings from the files that their `…_FILE` settings name. Problems contain no values. */
export function withSecretsOfFiles(
  given: Source,
  names: readonly SecretSettingName[] = secretSettings,
): { environment: Source; problems: string[] } {
  const problems: string[] = [];
  const read: Record<string, string> = {};
  for (const name of names) {
    const path = given[`${name}_FILE`];
    if (!path) {
      continue;
    }
    try {
      read[name] = secretOf(path);
      if (given[name] && given[name] !== read[name]) {
        problems.push(`${name} and ${name}_FILE differ: only one of them may be set`);
      }
    } catch (error) {
      problems.push(`${name}_FILE names a file that ${(error as Error).message}`);
    }
  }
  return { environment: { ...given, ...read }, problems };
}

/** The content without the line break at its end. Throws an Error that completes "a file that …". */
export function secretOf(path: string): string {
  const problem = fileProblem(path) ?? (isTooOpen(path) ? 'other users may read: chmod 600' : undefined);
  if (problem !== undefined) {
    throw new Error(problem);
  }
  const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  if (text === '' || text.length > MAX_BYTES) {
    throw new Error(text === '' ? 'is empty' : 'is too long');
  }
  return text;
}

/** Why the file cannot be read; undefined if it can. Completes "a file that …" and "a file, which …". */
function fileProblem(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).isFile() ? undefined : 'is not a file';
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return REASONS[code] ?? `cannot be read (${code})`;
  }
}

/** The same for a file of a secret or private key. Completes "a file, which …". */
export function secretFileProblem(path: string): string | undefined {
  return fileProblem(path) ?? (isTooOpen(path) ? 'is open to other users' : undefined);
}

/** The secrets that this user can use; the files of the others may belong to a role of another user. */
export function readableSecrets(given: Source): SecretSettingName[] {
  return secretSettings.filter((name) => {
    const path = given[`${name}_FILE`];
    return !path || secretFileProblem(path) === undefined;
  });
}

function isTooOpen(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & TOO_OPEN) !== 0;
}
