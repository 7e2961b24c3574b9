import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../src/config/package.js';

const PAPERS = [
  'SECURITY.md',
  'test/attacks/threat-model.md',
  'test/attacks/owasp-api-top-10.md',
  'test/attacks/asvs-5-level-2.md',
];

/** How many requirements of levels 1 and 2 each chapter of ASVS 5.0.0 has. */
const PER_CHAPTER = [27, 11, 19, 10, 9, 35, 18, 7, 7, 29, 14, 9, 13, 9, 13, 16, 7];
const STATES = ['met', 'partly', 'not met', 'operator', 'does not apply'];

const textOf = (paper: string) => readFileSync(join(packageRoot, paper), 'utf8');
const cellsOf = (line: string) =>
  line
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());

describe.each(PAPERS)('%s', (paper) => {
  const text = textOf(paper);

  test('names no test and links to no file that does not exist', () => {
    const tests = [...text.matchAll(/`(test\/[\w./-]+\.test\.ts)`/g)].map(([, file]) => file as string);
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, link]) =>
      join(dirname(paper), link as string),
    );
    expect([...tests, ...links]).not.toEqual([]);
    expect([...new Set([...tests, ...links])].filter((file) => !existsSync(join(packageRoot, file)))).toEqual(
      [],
    );
  });

  test('has tables with complete rows', () => {
    let width: number | undefined;
    const broken = text.split('\n').filter((line) => {
      if (!line.startsWith('|')) {
        width = undefined;
        return false;
      }
      width ??= cellsOf(line).length;
      return cellsOf(line).length !== width || cellsOf(line).slice(1).includes('');
    });
    expect(broken).toEqual([]);
  });
});

describe('the table of ASVS 5.0.0', () => {
  const rows = textOf('test/attacks/asvs-5-level-2.md')
    .split('\n')
    .filter((line) => /^\| V\d/.test(line))
    .map(cellsOf);

  test('has every requirement of levels 1 and 2, once', () => {
    const ids = rows.map(([id]) => id as string);
    expect(new Set(ids).size).toBe(ids.length);
    const counts = PER_CHAPTER.map((_, index) => ids.filter((id) => id.startsWith(`V${index + 1}.`)).length);
    expect(counts).toEqual(PER_CHAPTER);
    expect(rows.every(([, level]) => level === '1' || level === '2')).toBe(true);
  });

  test('counts what is met, and gives a reason where something is not', () => {
    const counts = Object.fromEntries(STATES.map((state) => [state, 0]));
    for (const [id, , , state = '', how = ''] of rows) {
      expect([id, STATES.includes(state), how.length > 5]).toEqual([id, true, true]);
      counts[state] = (counts[state] ?? 0) + 1;
    }
    const told = textOf('test/attacks/asvs-5-level-2.md')
      .split('\n')
      .map(cellsOf)
      .filter(([state = '', count = '']) => STATES.includes(state) && /^\d+$/.test(count))
      .map(([state, count]) => [state, Number(count)]);
    expect(Object.fromEntries(told)).toEqual(counts);
  });
});

test('the table of API risks has ten of them, each with a test', () => {
  const rows = textOf('test/attacks/owasp-api-top-10.md')
    .split('\n')
    .filter((line) => /^\| API\d/.test(line))
    .map(cellsOf);
  expect(rows.map(([risk]) => /^API(\d+) /.exec(risk ?? '')?.[1])).toEqual(
    Array.from({ length: 10 }, (_, index) => String(index + 1)),
  );
  expect(rows.filter((cells) => !cells.at(-1)?.includes('.test.ts'))).toEqual([]);
});
