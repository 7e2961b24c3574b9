import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { parseManifest } from '../../../../src/cli/commands/copies/manifest.js';
import type { RestoreOptions } from '../../../../src/cli/commands/copies/restore-actions.js';
import { Unfinished, UsageError } from '../../../../src/cli/commands/errors.js';
import { temporaryDirectories } from '../../../support/temporary-directory.js';
import { sharedIntegration } from '../../typed.js';
import { changedBackup, isUntouched, newLive, restoring, succeeded } from './rig.js';

const directory = temporaryDirectories();
const shared = temporaryDirectories(afterAll);

describe('integration restore, with a list of what is valid', () => {
  let settings: Record<string, string>;
  let backup: string;

  beforeAll(async () => {
    const folder = shared();
    settings = await newLive(folder);
    backup = join(folder, 'backup');
    await succeeded(sharedIntegration(['backup', backup], settings));
  });

  /** Settings with an empty data directory and the key file of the environment. */
  const elsewhere = () => ({ ...settings, DATA_DIR: join(directory(), 'data') });
  const manifest = () => parseManifest(readFileSync(join(backup, 'manifest.json'), 'utf8'));
  const linesOfBackup = () => readFileSync(join(backup, 'valid.jsonl'), 'utf8').trimEnd().split('\n');
  /** A list like that of the backup, with another time of making it and a newer change. */
  const listOf = (change: object, items = linesOfBackup().slice(1)) => {
    const file = join(directory(), 'valid-now.jsonl');
    const [head = ''] = linesOfBackup();
    const changed = { ...JSON.parse(head), changedAt: Date.UTC(2999), ...change };
    writeFileSync(file, [JSON.stringify(changed), ...items, ''].join('\n'));
    return file;
  };
  const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
  const HOURS = 3_600_000;
  /** What the command prints. */
  const report = async (options: RestoreOptions) => {
    const write = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    try {
      await restoring(backup, elsewhere(), options);
      return write.mock.calls.map(([text]) => text).join('');
    } finally {
      write.mockRestore();
    }
  };
  const WORKS = /the newest change in the list, works again\.\n\nThese work:\n\n.*\nservice_token /s;
  const SUSPENDED =
    /Suspended, because .* after 2999-01-01 00:00 UTC:\n\n.*\nservice_token .*works again, except what is suspended\./s;
  const AS_ON_LIST =
    /WARNING: these work .* if they were revoked after 2999-01-01 00:00 UTC:\n\n.*\nservice_token /s;

  test.each<[string, () => number, RestoreOptions, RegExp]>([
    ['lets what is on a recent list work', () => 0, {}, WORKS],
    ['suspends what is on an older list', () => 2 * HOURS, {}, SUSPENDED],
    ['suspends what is on a list from the future', () => -2 * HOURS, {}, SUSPENDED],
    ['lets it work if told so', () => 2 * HOURS, { keepKeys: true }, AS_ON_LIST],
    // The time of reading does not say what a list contains.
    ['accepts a list that was read before the backup', () => 30 * 60_000, {}, WORKS],
  ])('%s, and tells what the list does not show', async (_, age, options, said) => {
    const revocations = listOf({ readAt: ago(age()) });
    expect(await report({ ...options, revocations })).toMatch(said);
  });

  test('warns of what comes back with kept sessions', async () => {
    const said = await report({ keepSessions: true });
    expect(said).toMatch(/^WARNING: --keep-sessions brings back .* refresh tokens that were rotated, /m);
    expect(said).toMatch(/^Sessions +kept, with all tokens$/m);
    const ofSigningKeys =
      'signing keys that were withdrawn: if one was compromised, run `integration signing-key rotate --compromised`';
    expect(said).toContain(ofSigningKeys);
    // The list names the signing keys that are valid.
    const withList = await report({ keepSessions: true, revocations: listOf({ readAt: ago(0) }) });
    expect(withList).toContain('WARNING: --keep-sessions brings back ');
    expect(withList).not.toContain(ofSigningKeys);
  });

  test('without a list, warns first of what has become valid again', async () => {
    const changedAt = new Date(manifest().changedAt).toISOString();
    const since = `${changedAt.slice(0, 10)} ${changedAt.slice(11, 16)} UTC`;
    const [, warning, facts] = (
      await succeeded(sharedIntegration(['restore', backup, '--keep-keys'], elsewhere()))
    ).split('\n\n');
    expect(warning).toBe(
      `WARNING: without a list, what was changed after ${since} is as in the backup: people who have left, disabled accounts, changed passwords, memberships, disabled applications, redirect URIs, and instance integrations whose configuration was removed.`,
    );
    expect(facts).toMatch(/^Revocations +unknown$/m);
  });

  test('refuses a damaged list in the folder of a newer backup', async () => {
    const newer = (folder: string, change: (list: string) => string, options = {}) => {
      const target = join(directory(), folder);
      const changed = (content: Buffer) =>
        change(content.toString().replace(/"changedAt":\d+/, `"changedAt":${Date.UTC(2999)}`));
      return join(changedBackup(backup, target, 'valid.jsonl', changed, options), 'valid.jsonl');
    };
    const list = newer('damaged', (text) => text.replace(/(?<="tok_\w+)\w"/, '_"'));
    const into = elsewhere();
    await expect(restoring(backup, into, { revocations: list })).rejects.toEqual(
      new Unfinished(
        `The list ${list} is damaged: it does not match its checksum in SHA256SUMS. Use the list of another backup.`,
      ),
    );
    expect(isUntouched(into)).toBe(true);
    const sound = newer('sound', (text) => text, { summed: true });
    expect(await report({ revocations: sound })).toMatch(WORKS);
  });

  test('refuses a list of what is valid that shows nothing newer than the backup, of another database or not complete', async () => {
    const into = elsewhere();
    const { changedAt } = manifest();
    const older = listOf({ changedAt: Date.UTC(2020) });
    // As of the copy that was backed up: read later, but with the same content.
    const same = listOf({ changedAt, readAt: ago(0) });
    // Read so early that the newest change of the backup would have been of a clock that was ahead.
    const early = listOf({ changedAt: changedAt - 2 * HOURS, readAt: ago(2 * HOURS) });
    for (const [list, newest] of [
      [older, Date.UTC(2020)],
      [same, changedAt],
      [join(backup, 'valid.jsonl'), changedAt],
      [early, changedAt - 2 * HOURS],
    ] as const) {
      const [its, theirs] = [newest, changedAt].map((time) => new Date(time).toISOString());
      await expect(restoring(backup, into, { revocations: list })).rejects.toEqual(
        new UsageError(
          `The list ${list} does not show what was revoked since the backup: its newest change is of ${its}, that of the backup of ${theirs}. Make the list from the damaged database or the latest recovery, never from the copy that you back up. If you know that nothing has changed since, use --keep-keys instead of a list.`,
        ),
      );
    }
    const foreign = listOf({ environmentMadeAt: 1 });
    await expect(restoring(backup, into, { revocations: foreign })).rejects.toEqual(
      new UsageError(`The list ${foreign} was made from another database than the backup.`),
    );
    const lines = linesOfBackup();
    const items = lines.slice(1, -1);
    const [end = ''] = lines.slice(-1);
    const last = `line ${lines.length}`;
    const member = '["members","wrk_1"]';
    for (const [part, torn] of [
      ['readAt', listOf({ readAt: 'Jan 1 2999' })],
      ['readAt', listOf({ readAt: undefined })],
      ['changedAt', listOf({ changedAt: undefined })],
      ['changedAt', listOf({ changedAt: '2999-01-01T00:00:00.000Z' })],
      ['changedAt', listOf({ changedAt: 1e16 })],
      ['line 2', listOf({}, ['["apiKeys","key_1"]', ...items, end])],
      ['line 2', listOf({}, ['["members","wrk_1",1]', ...items, end])],
      ['line 2', listOf({}, ['["wallets","wlt_1"]', ...items, end])],
      ['line 2', listOf({}, ['["passwords",1,1]', ...items, end])],
      ['line 2', listOf({}, [])],
      [last, listOf({}, items)],
      [last, listOf({}, [...items, end.slice(0, -1)])],
      [`line ${lines.length + 1}`, listOf({}, [...items, member])],
      [`line ${lines.length - 1}`, listOf({}, [...items.slice(1), end])],
      [`line ${lines.length + 1}`, listOf({}, [...items, end, member])],
      [
        `line ${lines.length + 2}`,
        listOf({}, [member, member, ...items, end.replace(/("members":)0/, '$12')]),
      ],
    ] as const) {
      await expect(restoring(backup, into, { revocations: torn })).rejects.toEqual(
        new Unfinished(
          `The file ${torn} is incomplete: ${part} is missing or has another form than \`integration revocations\` writes.`,
        ),
      );
    }
    expect(isUntouched(into)).toBe(true);
  });
});
