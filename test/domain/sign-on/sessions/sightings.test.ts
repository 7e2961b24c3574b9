import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { SignOn } from '../../../../src/domain/sign-on/sign-on.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { eventually } from '../../../support/eventually.js';
import { signalled } from '../../../support/signalled.js';
import { type BrowserRig, browserRig, HOUR_MS, newPerson } from '../browser-rig.js';
import { codeOf, errorPageOf, signedInBrowser, TestBrowser } from '../test-browser.js';

const onSqlite = databaseUnderTest('SQLite');
const onPostgres = databaseUnderTest('PostgreSQL');

const MINUTE_MS = 60_000;

async function signedInAs({ database }: BrowserRig) {
  const rows = await database.reader.selectFrom('sessions').select(['account_id', 'last_seen_at']).execute();
  return rows.map(({ account_id, last_seen_at }) => [account_id, last_seen_at]);
}

async function isWaitedFor({ database }: BrowserRig): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
  `.execute(database.reader);
  return rows.length > 0;
}

async function deadlocksIn({ database }: BrowserRig): Promise<number | undefined> {
  const { rows } = await sql<{ deadlocks: number }>`
    select deadlocks from pg_stat_database where datname = current_database()
  `.execute(database.reader);
  return rows[0]?.deadlocks;
}

test('a tab that continues under single sign-on does not undo a sign-in that another tab makes meanwhile', async () => {
  const rig = await browserRig(onPostgres);
  const [first, second] = [
    await newPerson(rig, [rig.here.clientId]),
    await newPerson(rig, [rig.here.clientId]),
  ];
  const { cookie } = await signedInBrowser(rig, first);
  const other = Object.assign(new TestBrowser(rig), { cookie });
  await other.authorize({ prompt: 'login' });
  rig.clock.advance(2 * MINUTE_MS);

  const [read, goOn] = [signalled(), signalled()];
  const { unitOfWork } = rig.signOn;
  const paused: SignOn = {
    ...rig.signOn,
    unitOfWork: {
      ...unitOfWork,
      run: (work) =>
        unitOfWork.run((changes) => {
          const noteSeen: typeof changes.sessions.noteSeen = async (id, at) => {
            read.tell();
            await goOn.told;
            await changes.sessions.noteSeen(id, at);
          };
          return work({ ...changes, sessions: { ...changes.sessions, noteSeen } });
        }),
    },
  };
  const tab = Object.assign(new TestBrowser({ ...rig, signOn: paused }), { cookie });
  const going = tab.authorize();
  await read.told;
  const replacing = other.signIn(second);
  await eventually('a sign-in that waits for the tab', () => isWaitedFor(rig));
  goOn.tell();
  codeOf(await going);
  codeOf(await replacing);
  expect(await deadlocksIn(rig)).toBe(0);

  expect(await signedInAs(rig)).toEqual([[second.accountId, rig.clock.now()]]);
  expect(codeOf(await other.authorize({ prompt: 'none' }))).toBeDefined();
});

test.each([
  ['a minute', MINUTE_MS, MINUTE_MS / 10],
  ['twelve hours', 12 * HOUR_MS, MINUTE_MS],
])(
  'with an idle limit of %s, a browser is noted as seen often enough, and not oftener',
  async (_, idleMs, stepMs) => {
    const rig = await browserRig(onSqlite);
    rig.signOn.sessionLimits = { idleMs, absoluteMs: 24 * HOUR_MS };
    const person = await newPerson(rig, [rig.here.clientId]);
    const browser = await signedInBrowser(rig, person);
    const signedInAt = rig.clock.now();
    rig.clock.advance(stepMs - 1);
    await browser.authorize();
    expect(await signedInAs(rig)).toEqual([[person.accountId, signedInAt]]);
    rig.clock.advance(1);
    await browser.authorize();
    expect(await signedInAs(rig)).toEqual([[person.accountId, rig.clock.now()]]);
  },
);

test('a page that is only shown keeps no browser signed in, and a form that comes too late says why', async () => {
  const rig = await browserRig(onSqlite);
  rig.signOn.sessionLimits = { idleMs: 5 * MINUTE_MS, absoluteMs: 24 * HOUR_MS };
  const browser = await signedInBrowser(rig, await newPerson(rig, [rig.here.clientId]));
  await browser.authorize({ prompt: 'consent' });
  rig.clock.advance(5 * MINUTE_MS - 1);
  const csrfToken = await browser.csrfToken('consent');
  rig.clock.advance(1);
  const { message } = errorPageOf(await browser.decide(true, csrfToken));
  expect(message).toContain('signed out since or were away for too long');
});
