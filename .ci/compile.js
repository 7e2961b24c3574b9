// Bundles the service into dist/: a start then reads sixty files instead of two thousand. tsc checks the types.
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { context } from 'esbuild';

/** Keeps the chunks of older builds for a day, because running processes may still load them. */
const KEPT_MS = 24 * 60 * 60 * 1000;
const PARTS = 'lib';
const WORKFLOWS = 'definitions.bundle.js';

/** By path below dist/. Entries of threads, and code that finds files beside itself, are in the folder of chunks. */
const ENTRIES = {
  'src/cli/main': 'src/cli/main.ts',
  'workflows/dev-server/install': 'workflows/dev-server/install.ts',
  [`${PARTS}/bundle`]: 'workflows/bundle.ts',
  [`${PARTS}/password-thread`]: 'src/passwords/password-thread.ts',
  [`${PARTS}/checkpoint-thread`]: 'src/store/dialects/checkpoint-thread.ts',
};

/** Not bundled: packages with native code or own files, or that Temporal and the service must share. */
export const NOT_BUNDLED = [
  '@grpc/*',
  '@node-rs/argon2',
  '@temporalio/*',
  '@zxcvbn-ts/language-common',
  'better-sqlite3',
  'better-sqlite3-napi',
  'pg-native',
  'pino-pretty',
];

/** The generated clients of the SDK. */
const GENERATED = 'generated/sdk/typescript';

/** The SDK as the package has it: its generated parts are beside it only when it is packed. */
const SDK = {
  name: 'sdk',
  setup(build) {
    build.onResolve({ filter: /^@integration-service\/sdk$/ }, () => ({
      path: resolve('src/sdk/typescript/src/index.ts'),
      sideEffects: false,
    }));
    build.onResolve({ filter: /^\.\/generated\// }, ({ path, resolveDir }) =>
      resolveDir === resolve('src/sdk/typescript/src')
        ? { path: resolve(path.replace('./generated', GENERATED).replace(/js$/, 'ts')) }
        : undefined,
    );
    // Also imports between generated files: esbuild applies tsconfig.json only to paths that it resolves
    // itself, so the import that it happens to read first would decide how a file is compiled.
    build.onResolve({ filter: /^\.\.?\/.*\.js$/ }, ({ path, resolveDir }) =>
      `${resolveDir}/`.startsWith(`${resolve(GENERATED)}/`)
        ? { path: resolve(resolveDir, path.replace(/js$/, 'ts')) }
        : undefined,
    );
    build.onLoad({ filter: /\/src\/sdk\/typescript\/src\/version\.ts$/ }, () => ({
      contents: `export const version = ${JSON.stringify(JSON.parse(readFileSync('package.json', 'utf8')).version)};`,
    }));
  },
};

/**
 * node:http with a getter for each of its names. An import would read all of them, and reading one of them
 * loads Node's fetch, 14 MB in every process. Imports that run later, as that of traces, stay as they are.
 */
const HTTP_BY_NAME = {
  name: 'http-by-name',
  setup(build) {
    build.onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? undefined : { path: 'node:http', namespace: 'by-name' },
    );
    build.onLoad({ filter: /./, namespace: 'by-name' }, () => ({
      contents: "module.exports = process.getBuiltinModule('node:http');",
    }));
  },
};

/** A context of esbuild, which builds once or watches. */
export function compiler(outdir, plugins = [], options = {}) {
  return context({
    entryPoints: ENTRIES,
    outdir,
    plugins: [SDK, HTTP_BY_NAME, ...plugins],
    bundle: true,
    splitting: true,
    chunkNames: `${PARTS}/[name]-[hash]`,
    external: NOT_BUNDLED,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    // A process keeps the text of its modules, at twice the size if one comment has a dash or a curly quote.
    minifyWhitespace: true,
    lineLimit: 120,
    sourcemap: 'linked',
    sourcesContent: false,
    // Bundled CommonJS modules call `require` for Node modules.
    banner: {
      js: 'import{createRequire as makeRequire}from"node:module";const require=makeRequire(import.meta.url);',
    },
    logLevel: 'warning',
    ...options,
  });
}

/** Renames the file into place, so that a starting worker reads either the old workflows or the new ones. */
export async function bundleWorkflows(outdir) {
  const { bundleDefinitions } = await import(resolve(outdir, PARTS, 'bundle.js'));
  const file = join(outdir, PARTS, WORKFLOWS);
  await writeFile(`${file}.new`, await bundleDefinitions(resolve('workflows/definitions/index.ts')));
  await rename(`${file}.new`, file);
}

function removeOldParts(outdir) {
  const folder = join(outdir, PARTS);
  for (const file of readdirSync(folder)) {
    if (file !== WORKFLOWS && statSync(join(folder, file)).mtimeMs < Date.now() - KEPT_MS) {
      rmSync(join(folder, file));
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [what] = process.argv.slice(2);
  if (what === 'workflows') {
    await bundleWorkflows('dist');
  } else {
    const compiling = await compiler('dist');
    if (what === '--watch') {
      await compiling.watch();
    } else {
      try {
        await compiling.rebuild();
        removeOldParts('dist');
      } catch {
        // esbuild has already reported the error.
        process.exitCode = 1;
      }
      await compiling.dispose();
    }
  }
}
