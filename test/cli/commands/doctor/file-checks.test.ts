import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  keyFileIsUsable,
  secretsArePrivate,
  userOwnsTheData,
} from '../../../../src/cli/commands/doctor/file-checks.js';
import { makeSecretsKeys } from '../../../../src/keys/secrets-key.js';
import { doctorRig } from './rig.js';

const { directory, outcomeOf, file } = doctorRig();

describe('files', () => {
  test('with encryption keys are read; a missing one, or one that others may read, is an error', async () => {
    const path = join(directory(), 'secrets.key');
    const [key] = makeSecretsKeys(path);
    expect(await outcomeOf(keyFileIsUsable, { SECRETS_KEY_FILE: path })).toMatchObject({
      status: 'ok',
      detail: `${path}: ${key?.id}.`,
    });
    chmodSync(path, 0o644);
    expect(await outcomeOf(keyFileIsUsable, { SECRETS_KEY_FILE: path })).toMatchObject({
      status: 'error',
      examples: [expect.stringContaining('is open to other users')],
    });
    expect(await outcomeOf(keyFileIsUsable)).toMatchObject({ status: 'error' });
  });

  test('that other users may read, or that are in the data directory, are a warning', async () => {
    const folder = directory();
    chmodSync(folder, 0o755);
    const key = file('key', 0o644);
    const settings = {
      ...{ DATA_DIR: folder, SECRETS_KEY_FILE: join(folder, 'secrets.key') },
      ...{ GRPC_TLS_CERT_FILE: key, GRPC_TLS_KEY_FILE: key },
    };
    expect(await outcomeOf(secretsArePrivate, settings)).toMatchObject({
      status: 'warning',
      examples: [
        `GRPC_TLS_KEY_FILE names ${key}, which is open to other users`,
        `${folder} (DATA_DIR) is open to other users`,
        expect.stringContaining('is in DATA_DIR'),
      ],
    });
    const closed = directory();
    chmodSync(closed, 0o700);
    expect(await outcomeOf(secretsArePrivate, { DATA_DIR: closed })).toMatchObject({ status: 'ok' });
  });

  test('with secrets that cannot be read are a warning, unless one holds the address of the database', async () => {
    const missing = join(directory(), 'token');
    const open = file('operator', 0o644);
    const settings = { EDGE_TOKEN_FILE: missing, TEMPORAL_API_KEY_FILE: open };
    expect(await outcomeOf(secretsArePrivate, settings)).toMatchObject({
      status: 'warning',
      examples: expect.arrayContaining([
        `EDGE_TOKEN_FILE names ${missing}, which does not exist`,
        `TEMPORAL_API_KEY_FILE names ${open}, which is open to other users`,
      ]),
    });
    await expect(outcomeOf(secretsArePrivate, { DATABASE_URL_FILE: missing })).rejects.toThrow(
      'DATABASE_URL_FILE names a file that does not exist',
    );
  });

  test('belong to the user of the command', async () => {
    expect(await outcomeOf(userOwnsTheData)).toMatchObject({ status: 'ok' });
    expect(await outcomeOf(userOwnsTheData, { DATA_DIR: '/not/there' })).toMatchObject({ status: 'skipped' });
  });
});
