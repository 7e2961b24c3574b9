import dns from 'node:dns';
import { describe, expect, jest, test } from '@jest/globals';
import { sql } from 'kysely';
import { openPostgres } from '../../../src/store/dialects/postgres/postgres.js';
import { newPostgresDatabase, PATIENT } from '../../support/databases.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';
import { refusalOf } from './refusal-of.js';

type Done = (error: null, addresses: object[]) => void;

describe('a PostgreSQL address', () => {
  const directory = temporaryDirectories();

  test.each<{ title: string; mayPass: boolean; change: (url: URL) => string }>([
    {
      ...{ title: 'a port where nothing listens', mayPass: true },
      change: (url) => `postgresql://me:canary@127.0.0.1:1${url.pathname}`,
    },
    {
      ...{ title: 'a host that does not exist', mayPass: true },
      change: () => 'postgresql://me:canary@nowhere.invalid/db',
    },
    {
      ...{ title: 'a wrong password', mayPass: false },
      change: (url) => url.href.replace(/:[^:@]+@/, ':canary@'),
    },
    {
      ...{ title: 'a database that does not exist', mayPass: false },
      change: (url) => url.href.replace(/\/[^/]*$/, '/missing'),
    },
    {
      ...{ title: 'no address at all', mayPass: false },
      change: () => 'postgresql://me:canary@:not-a-port/db',
    },
  ])('with $title is refused without its password, for good or for now', async ({ change, mayPass }) => {
    const { url, drop } = await newPostgresDatabase();
    try {
      const databaseUrl = change(new URL(url));
      const refusal = await refusalOf({ dataDir: directory(), databaseUrl, environment: 'demo' });
      const { message } = refusal;
      expect(refusal.mayPass).toBe(mayPass);
      expect(message).toMatch(/PostgreSQL/);
      expect(message).toMatch(/: \S+.*\.$/);
      expect(message).not.toContain('canary');
    } finally {
      await drop();
    }
  });

  test('with a name of several addresses is refused with the reason of each', async () => {
    const addresses = [
      { address: '127.0.0.1', family: 4 },
      { address: '127.0.0.2', family: 4 },
    ];
    const lookup = jest.spyOn(dns, 'lookup').mockImplementation(((
      _host: string,
      _options: object,
      done: Done,
    ) => {
      done(null, addresses);
    }) as never);
    try {
      const databaseUrl = 'postgresql://me:canary@several.example:1/db';
      const { message } = await refusalOf({ dataDir: directory(), databaseUrl, environment: 'demo' });
      expect(message).toMatch(/127\.0\.0\.1:1.*127\.0\.0\.2:1/);
    } finally {
      lookup.mockRestore();
    }
  });

  test('of a user who may not make tables is refused with what PostgreSQL says', async () => {
    const { url, drop } = await newPostgresDatabase();
    const admin = await openPostgres(url, () => undefined, PATIENT);
    const role = `reader_${new URL(url).pathname.slice(1)}`;
    await sql.raw(`create role ${role} login password 'p'`).execute(admin.patient);
    try {
      const databaseUrl = Object.assign(new URL(url), { username: role, password: 'p' }).href;
      const { message } = await refusalOf({ dataDir: directory(), databaseUrl, environment: 'demo' });
      expect(message).toMatch(/permission denied/);
    } finally {
      await sql.raw(`drop role ${role}`).execute(admin.patient);
      await admin.close();
      await drop();
    }
  });
});
