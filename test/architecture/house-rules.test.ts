import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { filesBelow, MANIFEST, manifestOf } from '../../src/codegen/manifest.js';
import { packageRoot } from '../../src/config/package.js';
import { httpOperations } from './surface.js';

const READS_ENVIRONMENT = ['src/config/', 'src/cli/', 'src/codegen/', 'workflows/dev-server/'];

async function sourcesOf(...folders: string[]): Promise<{ file: string; code: string }[]> {
  const files = await Promise.all(
    folders.map(async (folder) =>
      (await filesBelow(join(packageRoot, folder))).map((file) => `${folder}/${file}`),
    ),
  );
  return files
    .flat()
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ({ file, code: readFileSync(join(packageRoot, file), 'utf8') }));
}

describe('the environment and the console', () => {
  test('the environment is read where settings and tools are, and nowhere else', async () => {
    const readers = (await sourcesOf('src', 'workflows'))
      .filter(({ code }) =>
        /\bprocess\s*\.\s*env\b|\bprocess\s*\[|\benv\s*}\s*=\s*process\b|import .*\benv\b.* from 'node:process'/.test(
          code,
        ),
      )
      .map(({ file }) => file);
    expect(readers).not.toEqual([]);
    expect(readers.filter((file) => !READS_ENVIRONMENT.some((folder) => file.startsWith(folder)))).toEqual(
      [],
    );
  });

  test('nobody writes to the console: there is a log', async () => {
    const writers = (await sourcesOf('src', 'workflows', 'test')).filter(({ code }) =>
      /\bconsole\s*\.\s*\w+\(/.test(code),
    );
    expect(writers.map(({ file }) => file)).toEqual([]);
  });
});

describe('folders and files', () => {
  test('every room opens with a README.md that says what it owns', () => {
    const rooms = ['openapi', 'proto', 'workflows', ...foldersIn('src'), ...foldersIn('test')];
    expect(rooms.filter((room) => !existsSync(join(packageRoot, room, 'README.md')))).toEqual([]);
  });

  test('every handler of the gateway is in the file named by its operation id', async () => {
    const implemented = httpOperations('gateway').filter((operation) => operation.implemented);
    for (const { operationId } of implemented) {
      const file = join(packageRoot, 'src/edge/gateway', `${operationId}.ts`);
      expect(existsSync(file) ? readFileSync(file, 'utf8') : `no ${file}`).toContain(
        `export const ${operationId}`,
      );
    }
    const handlerFiles = (await sourcesOf('src/edge/gateway')).filter(({ code }) =>
      /: GatewayHandler</.test(code),
    );
    expect(handlerFiles.map(({ file }) => basename(file, '.ts')).sort()).toEqual(
      implemented.map(({ operationId }) => operationId).sort(),
    );
  });
});

test('generated/ holds what its manifest lists, unchanged, and nothing else', async () => {
  const dir = join(packageRoot, 'generated');
  const listed = existsSync(join(dir, MANIFEST)) ? readFileSync(join(dir, MANIFEST), 'utf8').split('\n') : [];
  const present = (await manifestOf(dir)).split('\n');
  const differences = [
    ...present.filter((line) => !listed.includes(line)).map((line) => `edited or stray: ${line}`),
    ...listed
      .filter((line) => !present.includes(line))
      .map((line) => `listed, but edited or missing: ${line}`),
  ];
  if (differences.length > 0) {
    const shown = differences.slice(0, 10).join('\n');
    throw new Error(`generated/ is not what generated/${MANIFEST} lists. Run \`make generate\`.\n${shown}`);
  }
});

describe('tests of the operations', () => {
  const implemented = (['gateway', 'sign-on'] as const).flatMap((api) =>
    httpOperations(api).flatMap((operation) => (operation.implemented ? [operation] : [])),
  );

  /** `503 when the domain is away` in a title, or `[503, …]` in a table: the number by itself. */
  test.each(implemented)(
    'there is one in test/edge for each documented status of $operationId',
    async ({ operationId, statuses }) => {
      const tests = (await sourcesOf('test/edge')).filter(({ file }) =>
        basename(file).startsWith(`${operationId}.`),
      );
      expect(tests.map(({ file }) => file)).not.toEqual([]);
      const mentioned = new Set(tests.flatMap(({ code }) => code.match(/\b[1-5]\d\d\b/g) ?? []));
      expect(statuses.filter((status) => !mentioned.has(status))).toEqual([]);
    },
  );
});

function foldersIn(folder: string): string[] {
  return readdirSync(join(packageRoot, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${folder}/${name}`);
}
