import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { databaseUnderTest } from '../../../support/databases.js';
import { eventually } from '../../../support/eventually.js';
import { temporaryDirectories } from '../../../support/temporary-directory.js';
import { runningCommands } from '../../typed.js';
import { newLive } from './rig.js';

const directory = temporaryDirectories();
const running = runningCommands();
const under = databaseUnderTest('PostgreSQL');

test('a backup that is ended by a signal ends pg_dump too', async () => {
  const folder = directory();
  const { databaseUrl } = await under.newEmptyPlace();
  const settings = await newLive(folder, databaseUrl);
  const [begun, ended] = ['begun', 'ended'].map((name) => join(folder, name)) as [string, string];
  const script = `#!/bin/sh
trap 'kill $child; : > ${ended}; exit' TERM
sleep 600 & child=$!
: > ${begun}
wait
`;
  writeFileSync(join(folder, 'pg_dump'), script, { mode: 0o755 });
  const command = running(['backup', join(folder, 'it')], {
    ...settings,
    PATH: `${folder}:${process.env.PATH}`,
  });
  await eventually('pg_dump', () => existsSync(begun));
  expect(await command.interrupt('SIGTERM')).toBe(1);
  await eventually('the end of pg_dump', () => existsSync(ended));
});
