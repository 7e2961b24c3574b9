import { existsSync, statSync } from 'node:fs';
import { sep } from 'node:path';
import type { Config } from '../../../config/config.js';
import { secretFileProblem } from '../../../config/secret-files.js';
import { type SettingName, secretSettings } from '../../../config/settings.js';
import { readSecretsKeys } from '../../../keys/secrets-key.js';
import { foundIn } from '../../../store/checks/check.js';
import { secretsKeyFile } from '../../from-config.js';
import { type DoctorCheck, requireDomain, skipUnless } from './check.js';

/** Any permission for others, and write permission for the group. */
const OPEN_FOLDER = 0o027;
/** Kubernetes gives a volume to the group of `fsGroup`, with the set-group-ID bit. */
const OF_GROUP = 0o2020;

const PRIVATE_KEYS = [
  'GRPC_TLS_KEY_FILE',
  'GRPC_TLS_CLIENT_KEY_FILE',
  'TEMPORAL_TLS_KEY_FILE',
] as const satisfies SettingName[];

export const keyFileIsUsable: DoctorCheck = {
  name: 'key-file',
  about: 'The file of the encryption keys exists, is complete, and is closed to other users.',
  severity: 'error',
  remedy: 'Restore the file from its copy, or correct its owner and mode as the message says.',
  find: ({ config }) => {
    requireDomain(config);
    const { path } = secretsKeyFile(config);
    try {
      const keys = readSecretsKeys(path);
      return foundIn([], `${path}: ${keys.map(({ id }) => id).join(', ')}.`);
    } catch (error) {
      return foundIn([(error as Error).message]);
    }
  },
};

export const secretsArePrivate: DoctorCheck = {
  name: 'secret-files',
  about: 'Private keys, files of secrets and the data directory are readable here and closed to other users.',
  severity: 'warning',
  remedy:
    'Give each file to the user of the service, and close it: `chmod 600` for files, `chmod 700` for directories.',
  find: ({ config }) => {
    const named = [...PRIVATE_KEYS, ...secretSettings.map((name) => `${name}_FILE` as const)];
    return foundIn([
      ...named.flatMap((name) => openFile(name, config[name])),
      ...openFolder(config),
      ...keyBesideData(config),
    ]);
  },
};

function openFile(name: string, path: string | undefined): string[] {
  if (path === undefined) {
    return [];
  }
  const problem = secretFileProblem(path);
  return problem === undefined ? [] : [`${name} names ${path}, which ${problem}`];
}

function openFolder({ DATA_DIR }: Config): string[] {
  const isOpen = existsSync(DATA_DIR) && process.platform !== 'win32' && isOpenMode(statSync(DATA_DIR).mode);
  return isOpen ? [`${DATA_DIR} (DATA_DIR) is open to other users`] : [];
}

function isOpenMode(mode: number): boolean {
  const isOfGroup = (mode & OF_GROUP) === OF_GROUP;
  return (mode & (isOfGroup ? 0o007 : OPEN_FOLDER)) !== 0;
}

function keyBesideData(config: Config): string[] {
  const { path } = secretsKeyFile(config);
  return path.startsWith(config.DATA_DIR + sep)
    ? [`${path} (SECRETS_KEY_FILE) is in DATA_DIR: a copy of the directory holds the data and its key`]
    : [];
}

export const userOwnsTheData: DoctorCheck = {
  name: 'user',
  about: 'This command runs as the user that owns the data directory.',
  severity: 'warning',
  remedy:
    'Run it as the user of the service and with its settings: other users have other permissions. The page “Install and upgrade” shows how.',
  find: ({ config }) => {
    const user = process.geteuid?.();
    skipUnless(user !== undefined && existsSync(config.DATA_DIR), 'there is no data directory');
    const { uid } = statSync(config.DATA_DIR);
    return foundIn(
      uid === user ? [] : [`it runs as user ${user}, and ${config.DATA_DIR} belongs to user ${uid}`],
    );
  },
};
