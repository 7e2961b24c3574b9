import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { filesBelow } from '../../src/codegen/manifest.js';
import { packageRoot } from '../../src/config/package.js';
import { temporaryDirectories } from '../support/temporary-directory.js';

interface Locked {
  name?: string;
  version: string;
  resolved?: string;
  integrity?: string;
  dev?: boolean;
  hasInstallScript?: boolean;
  link?: boolean;
}

interface Bill {
  bomFormat: string;
  specVersion: string;
  metadata: { component: { purl: string } };
  components: { purl: string; hashes?: { alg: string; content: string }[]; licenses?: unknown[] }[];
  dependencies: unknown[];
}

const jsonOf = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const { packages } = jsonOf(join(packageRoot, 'package-lock.json')) as { packages: Record<string, Locked> };
const { allowScripts } = jsonOf(join(packageRoot, 'package.json')) as {
  allowScripts: Record<string, boolean>;
};
const locked = Object.entries(packages)
  .filter(([path, { link }]) => path.includes('node_modules/') && !link)
  .map(([path, each]) => ({ ...each, name: each.name ?? path.replace(/^.*node_modules\//, '') }));
/** Where no other address is written, npm takes the registry. */
const REGISTRY = 'https://registry.npmjs.org/';
const newDirectory = temporaryDirectories();

/** Used as commands or as files. */
const NOT_IMPORTED = [
  '@biomejs/biome',
  '@bufbuild/buf',
  '@openapitools/openapi-generator-cli',
  '@redocly/cli',
  'dclint',
  'grpc-health-check',
  'ts-proto',
  'types-node-newest',
];

async function codeOf(...folders: string[]): Promise<{ file: string; code: string }[]> {
  const files = await Promise.all(
    folders.map(async (folder) =>
      (await filesBelow(join(packageRoot, folder))).map((file) => join(folder, file)),
    ),
  );
  return files
    .flat()
    .filter((file) => /\.[cm]?[jt]s$/.test(file) && !import.meta.filename.endsWith(file))
    .map((file) => ({ file, code: readFileSync(join(packageRoot, file), 'utf8') }));
}

describe('packages of others', () => {
  test('are each imported, or named here as one that is not', async () => {
    const declared = ['package.json', '.ci/tools/package.json'].flatMap((manifest) => {
      const { dependencies, devDependencies } = jsonOf(join(packageRoot, manifest));
      return Object.keys({ ...dependencies, ...devDependencies });
    });
    const sources = await codeOf('.ci', 'src', 'test', 'workflows');
    const isImported = (name: string) => {
      const own = name.replace('@types/', '');
      return sources.some(
        ({ file, code }) =>
          (own === name || file.endsWith('.ts')) && (code.includes(`'${own}'`) || code.includes(`'${own}/`)),
      );
    };
    expect(declared.filter((name) => !isImported(name)).sort()).toEqual(NOT_IMPORTED);
  });

  test('come from the npm registry, each with the hash of what was reviewed', () => {
    const strays = locked.filter(
      ({ resolved = REGISTRY, integrity = '' }) =>
        !resolved.startsWith(REGISTRY) || !integrity.startsWith('sha512-'),
    );
    expect(locked.length).toBeGreaterThan(500);
    expect(strays.map(({ name }) => name)).toEqual([]);
  });

  test('that have an install script are each allowed or denied by name, and no other name is on the list', () => {
    const withScript = locked.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name);
    expect(Object.keys(allowScripts).sort()).toEqual([...new Set(withScript)].sort());
  });

  test('run no script when they are installed, except those that are allowed', () => {
    const project = newDirectory();
    mkdirSync(join(project, '.ci'));
    for (const file of ['.npmrc', '.ci/install-scripts']) {
      copyFileSync(join(packageRoot, file), join(project, file));
    }
    const scripts = { install: "node -e \"fs.writeFileSync('ran', '')\"" };
    for (const name of ['allowed', 'denied', 'new']) {
      mkdirSync(join(project, 'node_modules', name), { recursive: true });
      const manifest = { name, version: '1.0.0', scripts };
      writeFileSync(join(project, 'node_modules', name, 'package.json'), JSON.stringify(manifest));
    }
    const dependencies = { allowed: '1.0.0', denied: '1.0.0', new: '1.0.0' };
    const root = {
      name: 'project',
      dependencies,
      allowScripts: { allowed: true, absent: true, denied: false },
    };
    writeFileSync(join(project, 'package.json'), JSON.stringify(root));
    const ran = () =>
      Object.keys(dependencies).filter((name) => existsSync(join(project, 'node_modules', name, 'ran')));
    execFileSync('npm', ['rebuild'], { cwd: project, stdio: 'pipe' });
    expect(ran()).toEqual([]);
    execFileSync('sh', ['.ci/install-scripts'], { cwd: project, stdio: 'pipe' });
    expect(ran()).toEqual(['allowed']);
  });
});

test('the bills of materials name every package that is locked, with its hash, and what is for production apart', () => {
  // Where `make sbom` writes them, so that .ci/run leaves them there without another run of npm.
  const folder = join(packageRoot, 'dist/sbom');
  rmSync(folder, { recursive: true, force: true });
  execFileSync('sh', ['.ci/sbom'], { cwd: packageRoot, stdio: 'pipe' });
  const [runtime, everything] = ['runtime', 'everything'].map(
    (name) => jsonOf(join(folder, `${name}.cdx.json`)) as Bill,
  ) as [Bill, Bill];
  const purlOf = ({ name, version }: Locked) => `pkg:npm/${name?.replace('@', '%40')}@${version}`;
  const ofOthers = ({ components }: Bill) =>
    components.filter(({ purl }) => !purl.startsWith('pkg:npm/integration-service-tools@'));
  const purlsOf = (bill: Bill) =>
    [...new Set(ofOthers(bill).map(({ purl }) => purl.split('?')[0] as string))].sort();
  for (const bill of [runtime, everything]) {
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: expect.stringMatching(/^1\.\d$/) });
    expect(bill.metadata.component.purl).toMatch(/^pkg:npm\/integration-service@\d/);
    expect(bill.dependencies.length).toBeGreaterThanOrEqual(bill.components.length);
    expect(ofOthers(bill).filter(({ hashes }) => hashes?.[0]?.alg !== 'SHA-512')).toEqual([]);
  }
  expect(purlsOf(everything)).toEqual([...new Set(locked.map(purlOf))].sort());
  expect(ofOthers(runtime)).toEqual(runtime.components);
  expect(purlsOf(runtime)).toEqual([...new Set(locked.filter(({ dev }) => !dev).map(purlOf))].sort());
});
