import { constants } from 'node:os';
import { expect, test } from '@jest/globals';
import { ErrorCode, ServiceError } from '../../src/errors/service-error.js';
import type { Database } from '../../src/store/database.js';
import { WriteRefusals } from '../../src/store/write-refusals.js';
import { databaseUnderTest } from '../support/databases.js';

/** A database whose writes fail with the given error, if any, under a clock that the test moves. */
function rig() {
  const told: string[] = [];
  const state: { error: unknown; now: number } = { error: undefined, now: 0 };
  const refusals = new WriteRefusals(
    { onRefused: (reason) => told.push(reason), onTaken: (refused) => told.push(`taken after ${refused}`) },
    { refused: () => told.push('counted'), wrote: () => undefined },
    () => state.now,
  );
  const write = async () => {
    if (state.error !== undefined) {
      throw state.error;
    }
  };
  const watched = refusals.watched({ write } as unknown as Database);
  return { told, state, refusals, write: () => watched.write(async () => undefined) };
}

const NO_QUOTA = `Unknown system error -${constants.errno.EDQUOT}`;
const sqlite = databaseUnderTest('SQLite');

const withCode = (code: string) => Object.assign(new Error('it failed'), { code });
const unavailable = (cause: Error, internal: string) =>
  new ServiceError(ErrorCode.UNAVAILABLE, 'Try again later.', { internal, cause });

test.each([
  'SQLITE_FULL',
  'SQLITE_IOERR_WRITE',
  'SQLITE_READONLY_DBMOVED',
  'EIO',
  'ENOSPC',
  'EROFS',
  NO_QUOTA,
  '53100',
  '25006',
  '58030',
])('a write that fails with %s is told once, and remembered although others succeed', async (code) => {
  const { told, state, refusals, write } = rig();
  state.error = unavailable(withCode(code), `${code}: it failed`);
  await expect(write()).rejects.toBe(state.error);
  await expect(write()).rejects.toBe(state.error);
  state.error = undefined;
  await write();
  expect(() => refusals.assertNone()).toThrow(
    `Writes were refused recently (2), for example: ${code}: it failed`,
  );
  expect(told).toEqual(['counted', `${code}: it failed`, 'counted']);
});

test('a write that a used-up quota refuses on SQLite may be tried again', async () => {
  const { write } = await sqlite.openMigrated();
  const refused = write(async () => {
    throw withCode(NO_QUOTA);
  });
  await expect(refused).rejects.toMatchObject({ code: ErrorCode.UNAVAILABLE });
});

test('after ten seconds without a refusal the next write that is taken ends the trouble', async () => {
  const { told, state, refusals, write } = rig();
  state.error = withCode('ENOSPC');
  await expect(write()).rejects.toBe(state.error);
  state.error = undefined;
  state.now = 9_999;
  await write();
  expect(() => refusals.assertNone()).toThrow();
  state.now = 10_000;
  await write();
  refusals.assertNone();
  expect(told).toEqual(['counted', 'it failed', 'taken after 1']);
});

test.each([
  ['a conflict', new ServiceError(ErrorCode.VERSION_CONFLICT, 'It was changed meanwhile.')],
  ['another process that writes', unavailable(withCode('SQLITE_BUSY'), 'SQLITE_BUSY: locked')],
  ['a lock that another write holds', unavailable(withCode('55P03'), '55P03: lock timeout')],
  ['a fault of ours', new TypeError('undefined is not a function')],
])('%s is no refusal of the disk', async (_, error) => {
  const { told, state, refusals, write } = rig();
  state.error = error;
  await expect(write()).rejects.toBe(error);
  refusals.assertNone();
  expect(told).toEqual([]);
});
