import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { filesBelow, MANIFEST, manifestOf } from '../../src/codegen/manifest.js';
import { packageRoot } from '../../src/config/package.js';
import { httpOperations } from './surface.js';

/** What is packed or installed as it is. */
const NEEDS_NO_README = /^src\/sdk\/typescript\/src(\/|$)|^test\/sdk\/\w+\/project$/;

/** Its users import it by this name. */
const IN_THE_SDK = /^src\/sdk\/typescript\/src\/version\.ts$/;

const MOST_FILES = 20;

const COMMENT = /^\s*(?:\/\/ (?!biome-ignore)|\/\*\*? |\* )/;
const VAGUE = /\b(?:anybody|everybody|nobody|somebody|whoever)\b/i;

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
  test('only settings and tools read the environment', async () => {
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

  test('no file writes to the console: there is a log', async () => {
    const writers = (await sourcesOf('src', 'workflows', 'test')).filter(({ code }) =>
      /\bconsole\s*\.\s*\w+\(/.test(code),
    );
    expect(writers.map(({ file }) => file)).toEqual([]);
  });
});

test('comments name the actor and are not wider than the code', async () => {
  const biome = JSON.parse(readFileSync(join(packageRoot, 'biome.json'), 'utf8'));
  const width: number = biome.formatter.lineWidth;
  const faulty = (await sourcesOf('src', 'workflows', 'test')).flatMap(({ file, code }) =>
    code
      .split('\n')
      .filter((line) => COMMENT.test(line) && (line.length > width || VAGUE.test(line)))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(faulty).toEqual([]);
});

test('one file chooses the SQLite binding that runs on this Node', async () => {
  const choosers = (await sourcesOf('src', 'workflows', 'test')).filter(({ code }) =>
    /^import (?!type ).* from 'better-sqlite3'|require\)?\(['"]better-sqlite3/m.test(code),
  );
  expect(choosers.map(({ file }) => file)).toEqual([]);
});

test('a constant of one value has a name in capitals', async () => {
  const value = /'[^'\n]*'|`[^`$]*`|\/.+\/[a-z]*|-?\d[\d_]*(?:\.\d+)?(?: [*/+-] [\w.]+)*/;
  const named = new RegExp(
    `^(?:export )?const ([a-z]\\w*)(?:: [^=\\n]+)? = (?:${value.source})(?: as const)?;`,
    'gm',
  );
  const faulty = (await sourcesOf('src', 'workflows', 'test'))
    .filter(({ file }) => !IN_THE_SDK.test(file))
    .flatMap(({ file, code }) => [...code.matchAll(named)].map(([, name]) => `${file}: ${name}`));
  expect(faulty).toEqual([]);
});

test('no test asserts how long something took: the bench measures that', async () => {
  const clocked =
    /expect\((?:(?:performance|Date)\.now\(\) - |(?:\w+\.)?(?:duration|away|elapsed)Ms\)\.toBeLessThan\()/;
  const faulty = (await sourcesOf('test')).filter(
    ({ file, code }) => !file.startsWith('test/bench/') && clocked.test(code),
  );
  expect(faulty.map(({ file }) => file)).toEqual([]);
});

describe('folders and files', () => {
  test('every folder of code has a README.md that says what it owns', async () => {
    const folders = (await sourcesOf('src', 'workflows', 'test')).map(({ file }) => dirname(file));
    const rooms = new Set(['openapi', 'proto', ...foldersIn('src'), ...folders]);
    const without = [...rooms].filter((room) => !existsSync(join(packageRoot, room, 'README.md')));
    expect(without.filter((room) => !NEEDS_NO_README.test(room))).toEqual([]);
  });

  test('no folder of the service has more than twenty files, README and index apart', async () => {
    const sizes = new Map<string, number>();
    for (const { file } of await sourcesOf('src', 'workflows')) {
      if (basename(file) !== 'index.ts') {
        sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1);
      }
    }
    const large = [...sizes].filter(([, size]) => size > MOST_FILES).map(([folder]) => folder);
    expect(large).toEqual([]);
  });

  test('every file and folder that a README names or links to is there', async () => {
    const paths = await pathsOf('.ci', 'deploy', 'generated', 'openapi', 'proto', 'src', 'test', 'workflows');
    const readmes = [...paths].filter((path) => /^(?!generated\/)(.*\/)?README\.md$/.test(path));
    expect(readmes.length).toBeGreaterThan(50);
    expect(readmes).toContain('README.md');
    expect(readmes.flatMap((readme) => [...staleNames(readme, paths), ...deadLinks(readme)])).toEqual([]);
  });

  test('every handler of the gateway is a constant named by its operation id', async () => {
    const code = (await sourcesOf('src/edge/gateway')).map((source) => source.code).join('\n');
    const handlers = [...code.matchAll(/^export const (\w+): GatewayHandler</gm)].map(([, name]) => name);
    const implemented = httpOperations('gateway').filter((operation) => operation.implemented);
    expect(handlers.sort()).toEqual(implemented.map(({ operationId }) => operationId).sort());
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

/** Every file and folder below these, and the files at the root; folders end with a slash. */
async function pathsOf(...tops: string[]): Promise<Set<string>> {
  const files = await Promise.all(
    tops.map(async (top) => (await filesBelow(join(packageRoot, top))).map((file) => `${top}/${file}`)),
  );
  const all = [...readdirSync(packageRoot), ...files.flat()];
  const folders = all.flatMap((file) =>
    [...file.matchAll(/\//g)].map(({ index }) => file.slice(0, index + 1)),
  );
  return new Set([...all, ...folders]);
}

/** Links of a README to files that do not exist; links to sites and within the page are not looked at. */
function deadLinks(readme: string): string[] {
  const text = readFileSync(join(packageRoot, readme), 'utf8').replace(/```.*?```/gs, '');
  const targets = [...text.matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)].map(([, target = '']) => target);
  return targets
    .filter((target) => !existsSync(join(packageRoot, dirname(readme), target)))
    .map((target) => `${readme}: link to ${target}`);
}

/** Names in a README that do not exist in its folder, below it, at the root or in `src/`. Ignores output. */
function staleNames(readme: string, paths: ReadonlySet<string>): string[] {
  const folder = readme.slice(0, -'README.md'.length);
  const text = readFileSync(join(packageRoot, readme), 'utf8').replace(/```.*?```/gs, '');
  const names = [...text.matchAll(/`([\w@.*/-]+(?:\.(?:ts|js|json|md|proto|ya?ml|toml|py|go|css)|\/))`/g)];
  return names.flatMap(([, name = '']) => {
    const [fromHere, anywhere] = [join(folder, name), name].map((path) =>
      path.replaceAll('.', '\\.').replaceAll('*', '[^/]*'),
    );
    const place = new RegExp(`^(?:${fromHere}|(?:src/)?${anywhere}|${folder}(?:.*/)?${anywhere})$`);
    const isThere = /^(?:dist|\.data)\//.test(name) || [...paths].some((path) => place.test(path));
    return isThere ? [] : [`${readme}: ${name}`];
  });
}

function foldersIn(folder: string): string[] {
  return readdirSync(join(packageRoot, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${folder}/${name}`);
}
