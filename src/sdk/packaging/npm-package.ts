import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { npmArchive } from './archives.js';
import { filesBelow, type PackageFile, type Sources, textFile, textOf, writeFiles } from './sources.js';

/** Browser types and their equivalents that Node.js has too: users of the package may have either. */
const BROWSER_WORDS: readonly [string, string][] = [
  ["WindowOrWorkerGlobalScope['fetch']", '(url: string, init: RequestInit) => Promise<Response>'],
  ['RequestCredentials', "RequestInit['credentials']"],
];

/** The npm package `@integration-service/sdk`. */
export function npmPackage(sources: Sources): Uint8Array {
  const folder = join(sources.written, 'typescript');
  const compiled = compile(folder, sourceFiles(folder, sources));
  return npmArchive([
    ...compiled.map(({ path, content }) => ({ path: `dist/${path}`, content })),
    textFile('package.json', manifest(folder, sources.version)),
    textFile('README.md', readFileSync(join(folder, 'README.md'), 'utf8')),
    sources.licence,
  ]);
}

function sourceFiles(folder: string, { generated, version }: Sources): PackageFile[] {
  const written = filesBelow(join(folder, 'src')).filter(({ path }) => path !== 'version.ts');
  const events = readFileSync(join(generated, 'asyncapi/events.ts'), 'utf8');
  const clients = filesBelow(join(generated, 'sdk/typescript'), 'generated/');
  return [
    ...written,
    textFile('version.ts', `export const version: string = ${JSON.stringify(version)};\n`),
    textFile('generated/events.ts', events),
    ...clients.map((file) => (file.path.endsWith('/runtime.ts') ? withoutDom(file) : file)),
  ];
}

function withoutDom(file: PackageFile): PackageFile {
  let text = textOf(file);
  for (const [ofBrowsers, everywhere] of BROWSER_WORDS) {
    if (!text.includes(ofBrowsers)) {
      throw new Error(
        `${file.path} no longer says ${ofBrowsers}: look whether it still compiles without a DOM.`,
      );
    }
    text = text.replaceAll(ofBrowsers, everywhere);
  }
  return textFile(file.path, text);
}

function manifest(folder: string, version: string): string {
  const written = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as object;
  return `${JSON.stringify({ ...written, version }, null, 2)}\n`;
}

/** Compiles sources to JavaScript and declarations, by the options of the folder. */
function compile(folder: string, sources: readonly PackageFile[]): PackageFile[] {
  const { compilerOptions } = JSON.parse(readFileSync(join(folder, 'tsconfig.json'), 'utf8'));
  const options = { ...compilerOptions, rootDirs: undefined, noEmit: false, rootDir: 'src', outDir: 'out' };
  mkdirSync('dist', { recursive: true });
  // Below the root, where the compiler finds the dependencies.
  const scratch = mkdtempSync('dist/npm-package-');
  try {
    const config = textFile('tsconfig.json', JSON.stringify({ compilerOptions: options, include: ['src'] }));
    writeFiles(scratch, [config, ...sources.map(({ path, content }) => ({ path: `src/${path}`, content }))]);
    execFileSync('node_modules/.bin/tsc', ['--project', scratch], { stdio: 'inherit' });
    return filesBelow(join(scratch, 'out'));
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
