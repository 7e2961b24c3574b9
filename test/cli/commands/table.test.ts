import { describe, expect, test } from '@jest/globals';
import { relativeTime, screenOf } from '../../../src/cli/commands/output/screen.js';
import { asColumns, asFacts, type Columns } from '../../../src/cli/commands/output/table.js';

const NOW = Date.UTC(2026, 5, 30, 12);
const COLUMNS = columnsOf('key, label, status, expires');
const ID = `key_${'x'.repeat(22)}`;
const ROWS = [
  [ID, 'Nightly export of everything to the ledger', 'active', '2026-07-02 12:00:00Z'],
  [ID, 'Old', 'revoked', 'never'],
];

const DELIVERY_COLUMNS = columnsOf('delivery, type, subscription, status, attempts, next attempt, created');
const WHD = `whd_${'x'.repeat(22)}`;
const WHS = `whs_${'x'.repeat(22)}`;

const screen = (columns: number, hasColours = false) => ({ columns, hasColours, now: NOW });

/** Of rows that are lists of cells. */
function columnsOf(heads: string): Columns<readonly string[]> {
  return Object.fromEntries(heads.split(', ').map((head, at) => [head, (row) => row[at] ?? '']));
}

describe('a table', () => {
  test('that goes to a program has every character, and exact times', () => {
    expect(asColumns(ROWS, COLUMNS, undefined)).toBe(
      [
        `KEY${' '.repeat(23)}  LABEL${' '.repeat(37)}  STATUS   EXPIRES`,
        `${ID}  Nightly export of everything to the ledger  active   2026-07-02 12:00:00Z`,
        `${ID}  Old${' '.repeat(39)}  revoked  never`,
      ].join('\n'),
    );
  });

  test('on a wide terminal has relative times', () => {
    const [, first] = asColumns(ROWS, COLUMNS, screen(200)).split('\n');
    expect(first).toBe(`${ID}  Nightly export of everything to the ledger  active   in 2 d`);
  });

  test.each([100, 80, 70, 66])('fits a terminal of %i columns, with ids whole', (columns) => {
    const lines = asColumns(ROWS, COLUMNS, screen(columns)).split('\n');
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns);
    expect(lines[1]).toContain(ID);
    expect(lines[1]).toMatch(/Nightly.* {2}active {3}in 2 d$/);
    expect(lines[1]?.includes('…')).toBe(columns < 88);
  });

  test('on a terminal too narrow for its columns has rows of several lines, each column whole', () => {
    const deliveries = [
      [WHD, 'user.updated', WHS, 'delivered', '1 of 3', '-', '2026-06-30 11:58:00Z'],
      [WHD, 'worker.onboarded', WHS, 'pending', '2 of 3', '2026-06-30 12:00:25Z', '2026-06-30 11:01:00Z'],
    ];
    expect(asColumns(deliveries, DELIVERY_COLUMNS, screen(80))).toBe(
      [
        `DELIVERY${' '.repeat(20)}TYPE${' '.repeat(14)}SUBSCRIPTION`,
        '  STATUS     ATTEMPTS  NEXT ATTEMPT  CREATED',
        `${WHD}  user.updated      ${WHS}`,
        '  delivered  1 of 3    -             2 min ago',
        `${WHD}  worker.onboarded  ${WHS}`,
        '  pending    2 of 3    in 25 s       59 min ago',
      ].join('\n'),
    );
    expect(asColumns(deliveries.slice(0, 1), DELIVERY_COLUMNS, screen(30))).toBe(
      [
        'DELIVERY',
        '  TYPE',
        '  SUBSCRIPTION',
        '  STATUS     ATTEMPTS',
        '  NEXT ATTEMPT  CREATED',
        WHD,
        '  user.updated',
        `  ${WHS}`,
        '  delivered  1 of 3',
        '  -             2 min ago',
      ].join('\n'),
    );
  });

  test('cuts no address, type or status at any width, and stays within it where they do', () => {
    const address = 'https://acme.example/hooks/of/the/integration';
    const shown = columnsOf('connection, status, events, address, last success');
    const row = [ID, 'not configured', 'user.* worker.* client.created', address, '2026-06-30 11:01:00Z'];
    for (let columns = 1; columns <= 160; columns += 1) {
      const lines = asColumns([row], shown, screen(columns)).split('\n');
      for (const whole of [ID, 'not configured', address, '59 min ago']) {
        expect(lines).toContainEqual(expect.stringContaining(whole));
      }
      const widest = Math.max(...lines.map(({ length }) => length));
      expect(widest).toBeLessThanOrEqual(Math.max(columns, `  ${address}`.length));
    }
  });

  test('aligns and cuts letters that take two places or none, in whole characters', () => {
    const rows = [
      ['株式会社山田製作所', 'active'],
      ['Zoe\u0308', 'active'],
      ['😀'.repeat(12), 'active'],
    ];
    const shown = columnsOf('name, status');
    const wide = asColumns(rows, shown, screen(80)).split('\n');
    expect(wide).toEqual([
      `NAME${' '.repeat(22)}STATUS`,
      `株式会社山田製作所${' '.repeat(8)}active`,
      `Zoe\u0308${' '.repeat(23)}active`,
      `${'😀'.repeat(12)}  active`,
    ]);
    const narrow = asColumns(rows, shown, screen(20)).split('\n');
    expect(narrow).toEqual([
      `NAME${' '.repeat(10)}STATUS`,
      '株式会社山…   active',
      `Zoe\u0308${' '.repeat(11)}active`,
      `${'😀'.repeat(5)}…   active`,
    ]);
  });

  test.each([200, 66, 30])('colours the status on %i columns, and aligns as without colours', (columns) => {
    const coloured = asColumns(ROWS, COLUMNS, screen(columns, true));
    expect(coloured).toContain('\x1b[32mactive\x1b[0m');
    expect(coloured).toContain('\x1b[31mrevoked\x1b[0m');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of a terminal are such.
    expect(coloured.replace(/\x1b\[\d+m/g, '')).toBe(asColumns(ROWS, COLUMNS, screen(columns)));
  });
});

test.each([
  ['2026-06-30 12:00:00Z', '0 s ago'],
  ['2026-06-30 11:59:01Z', '59 s ago'],
  ['2026-06-30 11:58:59Z', '1 min ago'],
  ['2026-06-30 15:30:00Z', 'in 3 h'],
  ['2026-06-28 11:00:00Z', '2 d ago'],
  ['2026-12-31 00:00:00Z', '2026-12-31'],
  ['never', 'never'],
  ['meeting 2026-06-30 12:00:00Z', 'meeting 2026-06-30 12:00:00Z'],
])('%s is shown as %s', (cell, shown) => {
  expect(relativeTime(cell, NOW)).toBe(shown);
});

describe('a screen', () => {
  test('exists only for a terminal', () => {
    expect(screenOf({ isTTY: false, columns: 80 })).toBeUndefined();
    expect(screenOf({ isTTY: true, columns: 80 }, {})).toMatchObject({ columns: 80, hasColours: true });
  });

  test('of unknown width cuts nothing', () => {
    const unknown = screenOf({ isTTY: true, columns: 0 }, { NO_COLOR: '1' });
    expect(asColumns(ROWS, COLUMNS, unknown)).toContain('Nightly export of everything to the ledger');
  });

  test.each([{ NO_COLOR: '1' }, { TERM: 'dumb' }])('has no colours with %j', (environment) => {
    expect(screenOf({ isTTY: true, columns: 80 }, environment)?.hasColours).toBe(false);
  });
});

test('text of others cannot move the cursor or change colours, in a table or a list of facts', () => {
  const hostile = 'Harbor\u009b2J\u202elight';
  expect(asColumns([[hostile]], columnsOf('name'), undefined)).toBe('NAME\nHarbor·2J·light');
  expect(
    asFacts([
      ['Name', hostile],
      ['Names', ['a', hostile]],
    ]),
  ).toBe('Name   Harbor·2J·light\nNames  a\n       Harbor·2J·light');
});
