// Packs all that a machine needs into NAME.tar.gz. The same sources, Node and platform give the same bytes.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { bundleWorkflows, compiler, NOT_BUNDLED } from './compile.js';

const MANIFEST = JSON.parse(readFileSync('package.json', 'utf8'));
const LOCKED = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages;
/** Before Node-API 10, the binding of SQLite fits one major version of Node. */
const MAJOR = process.versions.napi < 10 ? process.versions.node.split('.')[0] : undefined;
const RANGE = MAJOR ? `${MAJOR}.x` : '^22.14 || >=23.6';
const PLACE = `${process.platform}-${process.arch}${MAJOR ? `-node${MAJOR}` : ''}`;
const NAME = `integration-service-${MANIFEST.version}-${PLACE}`;

const OTHER_SQLITE = MAJOR ? 'better-sqlite3-napi' : 'better-sqlite3';
/** Dependencies that production packages use only for their installation or to bundle workflows. */
const BUILD_ONLY = [
  '@swc/core',
  '@types/node',
  'node-addon-api',
  'prebuild-install',
  'source-map-loader',
  'swc-loader',
  'webpack',
];
const NEVER_RUN = /\.(?:[cm]?ts|map|flow|markdown|md|test\.[cm]?js)$|\/(?:test|benchmark|\.github)$/;
const IS_LICENCE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/** Parts of packages with native code that run on this platform. */
const PARTS = {
  'better-sqlite3': ['package.json', 'LICENSE', 'lib', 'build/Release/better_sqlite3.node'],
  'better-sqlite3-napi': [
    'package.json',
    'LICENSE',
    'lib',
    `prebuilds/${process.platform}-${process.arch}.node`,
  ],
  '@temporalio/core-bridge': ['package.json', 'index.js', 'common.js', 'lib', `releases/${rustTarget()}`],
};

/** Copied as they are: path in the package, path in the project. */
const COPIES = {
  'dist/docs': 'dist/docs',
  'dist/sdk': 'dist/sdk',
  'generated/openapi': 'generated/openapi',
  'generated/proto': 'generated/proto',
  prometheus: 'deploy/prometheus',
  grafana: 'deploy/grafana',
  systemd: 'deploy/systemd',
  cluster: 'deploy/cluster',
  'INSTALL.md': 'deploy/INSTALL.md',
  'CHANGELOG.md': 'CHANGELOG.md',
  LICENSE: 'LICENSE',
  integration: 'integration',
};

// Below the project, where the bundler of workflows finds what it needs.
const folder = resolve(process.argv[2]);
const root = join(folder, NAME);
rmSync(root, { recursive: true, force: true });
mkdirSync(root, { recursive: true });
const bundled = await compile();
for (const [to, from] of Object.entries(COPIES)) {
  cpSync(from, join(root, to), {
    recursive: true,
    filter: (path) => !isHidden(path) && !/\.(?:ts|test\.yml)$/.test(path),
  });
}
for (const path of closure(NOT_BUNDLED.flatMap(named))) {
  copyModule(path);
}
writeModuleStub(
  'webpack',
  'The workflows of this package are bundled already, and it has nothing to bundle others.',
);
writeFileSync(join(root, 'THIRD-PARTY-LICENSES.txt'), licencesOf(bundled));
writeManifest();
archive();

/** Returns the folders of the packages that are now part of the bundle. */
async function compile() {
  const compiling = await compiler(join(root, 'dist'), [], { sourcemap: false, metafile: true });
  const { metafile } = await compiling.rebuild();
  await compiling.dispose();
  await bundleWorkflows(join(root, 'dist'));
  rmSync(join(root, 'dist/lib/bundle.js'));
  rmSync(join(root, 'dist/workflows'), { recursive: true });
  const inputs = Object.keys(metafile.inputs).flatMap(
    (file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? [],
  );
  return [...new Set(inputs)].sort();
}

/** The direct dependencies that a pattern of esbuild stands for. */
function named(pattern) {
  return Object.keys(MANIFEST.dependencies).filter((name) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );
}

/** The folders of packages and of all that they need at run time, as Node finds them. */
function closure(names) {
  const found = new Set();
  const add = (name, from) => {
    const path = installedPath(name, from);
    if (path === undefined || found.has(path) || BUILD_ONLY.includes(name) || name === OTHER_SQLITE) {
      return;
    }
    found.add(path);
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta = {} } = LOCKED[path];
    for (const needed of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      if (!peerDependenciesMeta[needed]?.optional) {
        add(needed, path);
      }
    }
  };
  for (const name of names) {
    add(name, '');
  }
  return [...found].sort();
}

/** Undefined for optional packages of other platforms. */
function installedPath(name, from) {
  for (let above = from; ; above = above.slice(0, Math.max(0, above.lastIndexOf('node_modules/') - 1))) {
    const path = `${above && `${above}/`}node_modules/${name}`;
    if (LOCKED[path]) {
      return existsSync(path) ? path : undefined;
    }
    if (above === '') {
      throw new Error(`${name}, which ${from || 'the service'} needs, is not in package-lock.json.`);
    }
  }
}

function copyModule(path) {
  const name = path.replace(/^.*node_modules\//, '');
  for (const part of PARTS[name] ?? ['.']) {
    cpSync(join(path, part), join(root, path, part), {
      recursive: true,
      dereference: true,
      filter: (from) => {
        const isNested = from.slice(path.length).includes('/node_modules');
        return !isNested && !isHidden(from) && (!NEVER_RUN.test(from) || IS_LICENCE.test(basename(from)));
      },
    });
  }
}

function isHidden(path) {
  return basename(path).startsWith('.');
}

/** Temporal's worker loads the package at start and calls it only to bundle. */
function writeModuleStub(name, sentence) {
  const place = join(root, 'node_modules', name);
  mkdirSync(place, { recursive: true });
  writeFileSync(
    join(place, 'package.json'),
    `${JSON.stringify({ name, version: '0.0.0', private: true })}\n`,
  );
  writeFileSync(
    join(place, 'index.js'),
    `const refuse = () => { throw new Error(${JSON.stringify(sentence)}); };\nmodule.exports = { ${name}: refuse };\n`,
  );
}

function licencesOf(paths) {
  const texts = paths.map((path) => {
    const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
    const files = readdirSync(path)
      .filter((file) => IS_LICENCE.test(file))
      .sort();
    const text = files.map((file) => readFileSync(join(path, file), 'utf8').trim()).join('\n\n');
    return `${name} ${version} (${license})\n\n${text || 'The package has no text of its licence.'}`;
  });
  const head =
    'Packages that are part of the files in dist/. Those in node_modules/ have their licences beside them.';
  return `${[head, ...texts].join(`\n\n${'='.repeat(80)}\n\n`)}\n`;
}

function writeManifest() {
  const { name, version, description, license, type, bin } = MANIFEST;
  const manifest = {
    name,
    version,
    private: true,
    description,
    license,
    type,
    bin,
    engines: { node: RANGE },
  };
  writeFileSync(join(root, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** The archive does not depend on this machine: times, owners, file modes and order are fixed. */
function archive() {
  setModes(root);
  const tar = execFileSync(
    'tar',
    [
      '--sort=name',
      '--format=gnu',
      '--mtime=@0',
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      '-C',
      folder,
      '-cf',
      '-',
      NAME,
    ],
    { maxBuffer: 2 ** 30 },
  );
  const file = join(folder, `${NAME}.tar.gz`);
  writeFileSync(file, execFileSync('gzip', ['-n'], { input: tar, maxBuffer: 2 ** 30 }));
  process.stdout.write(`${file} (${Math.round(statSync(file).size / 2 ** 20)} MiB)\n`);
}

function setModes(path) {
  const isFolder = statSync(path).isDirectory();
  const isProgram = isFolder || path === join(root, 'integration');
  chmodSync(path, isProgram ? 0o755 : 0o644);
  for (const name of isFolder ? readdirSync(path) : []) {
    setModes(join(path, name));
  }
}

/** The name of the platform in the packages of Temporal. */
function rustTarget() {
  const cpu = { x64: 'x86_64', arm64: 'aarch64' }[process.arch];
  const system = { linux: 'unknown-linux-gnu', darwin: 'apple-darwin' }[process.platform];
  return `${cpu}-${system}`;
}
