import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { databaseUnderTest } from '../../../support/databases.js';
import { eventually } from '../../../support/eventually.js';
import { temporaryDirectories } from '../../../support/temporary-directory.js';
import { integration, runningCommands } from '../../typed.js';
import { newLive, succeeded } from './rig.js';

const directory = temporaryDirectories();
const running = runningCommands();
const under = databaseUnderTest('PostgreSQL');

/** A program that waits until it is ended, and says so in files. */
const waiting = (begun: string, ended: string) => `#!/bin/sh
trap 'kill $child; : > ${ended}; exit' TERM
sleep 600 & child=$!
: > ${begun}
wait
`;
const DUMPING = `#!/bin/sh
for each in "$@"; do case $each in --file=*) : > "\${each#--file=}";; esac; done
`;

test.each([
  ['backup', 'pg_dump'],
  ['restore', 'pg_restore'],
])('a %s that is ended by a signal ends %s too', async (name, program) => {
  const folder = directory();
  const { databaseUrl } = await under.newEmptyPlace();
  const settings = { ...(await newLive(folder, databaseUrl)), PATH: `${folder}:${process.env.PATH}` };
  const target = join(folder, 'it');
  const into: Record<string, string> = { ...settings };
  if (name === 'restore') {
    writeFileSync(join(folder, 'pg_dump'), DUMPING, { mode: 0o755 });
    await succeeded(integration(['backup', target], settings));
    into.DATABASE_URL = (await under.newEmptyPlace()).databaseUrl as string;
  }
  const [begun, ended] = ['begun', 'ended'].map((each) => join(folder, each)) as [string, string];
  writeFileSync(join(folder, program), waiting(begun, ended), { mode: 0o755 });
  const command = running([name, target], into);
  await eventually(program, () => existsSync(begun));
  expect(await command.interrupt('SIGTERM')).toBe(1);
  await eventually(`the end of ${program}`, () => existsSync(ended));
});
