import { describe, expect, test } from '@jest/globals';
import { type DoctorCheck, type Outcome, Skipped } from '../../../../src/cli/commands/doctor/check.js';
import { examined, exitCodeOf, runChecks } from '../../../../src/cli/commands/doctor/doctor-action.js';
import { asReport } from '../../../../src/cli/commands/doctor/report.js';
import { temporaryDirectories } from '../../../support/temporary-directory.js';

const directory = temporaryDirectories();

function check(name: string, severity: DoctorCheck['severity'], find: DoctorCheck['find']): DoctorCheck {
  return { name, severity, about: `All is well with ${name}.`, remedy: `Mend ${name}.`, find };
}

const fine = check('fine', 'error', () => ({ count: 0, examples: [], detail: '3 ms.' }));
const odd = check('odd', 'warning', () => ({ count: 12, examples: ['one', 'two'] }));
const broken = check('broken', 'error', () => ({ count: 1, examples: ['the first'] }));
const failing = check('failing', 'warning', () => {
  throw new Error('no answer');
});
const elsewhere = check('elsewhere', 'error', async () => {
  throw new Skipped('for PostgreSQL');
});
const endless = check('endless', 'error', () => new Promise(() => undefined));

const run = (checks: readonly DoctorCheck[]) => examined({ DATA_DIR: directory() }, checks);

describe('the checks', () => {
  test('run in the order of the table, and one that fails does not stop the others', async () => {
    const outcomes = await run([failing, fine, elsewhere, odd, broken]);
    expect(outcomes.map(({ name, status }) => [name, status])).toEqual([
      ['failing', 'failed'],
      ['fine', 'ok'],
      ['elsewhere', 'skipped'],
      ['odd', 'warning'],
      ['broken', 'error'],
    ]);
  });

  test('end at their time limit', async () => {
    const outcomes = await runChecks([endless, fine], { thorough: false } as never, 1);
    expect(outcomes).toMatchObject([
      { status: 'failed', reason: 'it did not end within 0.001 s' },
      { status: 'ok' },
    ]);
  });

  test.each<[number, DoctorCheck[]]>([
    [0, [fine, elsewhere]],
    [3, [fine, odd]],
    [1, [odd, broken]],
    [1, [fine, failing]],
  ])('end with %i by their severity', async (code, checks) => {
    expect(exitCodeOf(await run(checks))).toBe(code);
  });
});

describe('the report', () => {
  const screen = { columns: 60, hasColours: true, now: 0 };

  test('is aligned, and says what is wrong and what to do about each finding', async () => {
    expect(asReport(await run([fine, odd, failing, elsewhere]), undefined)).toBe(
      [
        'ok       fine       All is well with fine. 3 ms.',
        'warning  odd        Expected: All is well with odd.',
        '                    - one',
        '                    - two',
        '                    … and 10 more',
        '                    What to do: Mend odd.',
        'failed   failing    Expected: All is well with failing.',
        '                    The check failed: no answer.',
        'skipped  elsewhere  Not checked: for PostgreSQL.',
        '',
        '4 checks: 1 ok, 1 warning, 1 failed, 1 skipped.',
      ].join('\n'),
    );
  });

  test('on a terminal has colours and wraps at its width', () => {
    const outcome: Outcome = {
      ...{
        name: 'odd',
        about: 'All is well.',
        remedy: 'Mend it with care and then look again.',
        status: 'warning',
      },
      ...{ count: 1, examples: ['a \u001b[2Jscreen'] },
    };
    expect(asReport([outcome], screen).split('\n')).toEqual([
      '\u001b[33mwarning\u001b[0m  odd  Expected: All is well.',
      '              - a ·[2Jscreen',
      '              What to do: Mend it with care and then look',
      '              again.',
      '',
      '1 checks: 1 warning.',
    ]);
  });
});
