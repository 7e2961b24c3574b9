import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { npmArchive } from './archives.js';
import { byPath, filesBelow, type PackageFile, type Sources, textFile, textOf } from './sources.js';

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
    ...clients.map((file) => (file.path.endsWith('/runtime.ts') ? inEverybodysWords(file) : file)),
  ];
}

function inEverybodysWords(file: PackageFile): PackageFile {
  let text = textOf(file);
  for (const [theirs, everybodys] of BROWSER_WORDS) {
    if (!text.includes(theirs)) {
      throw new Error(`${file.path} no longer says ${theirs}: look whether it still compiles without a DOM.`);
    }
    text = text.replaceAll(theirs, everybodys);
  }
  return textFile(file.path, text);
}

function manifest(folder: string, version: string): string {
  const written = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as object;
  return `${JSON.stringify({ ...written, version }, null, 2)}\n`;
}

/** Compiles sources in memory, as if they were in `src/` of the folder, to JavaScript and declarations. */
function compile(folder: string, sources: readonly PackageFile[]): PackageFile[] {
  const source = join(folder, 'src');
  const texts = new Map(
    sources.map(({ path, content }) => [join(source, path), new TextDecoder().decode(content)]),
  );
  const options = { ...compilerOptions(folder), noEmit: false, rootDir: source, outDir: '/' };
  const host = hostOver(texts, options);
  const program = ts.createProgram([...texts.keys()], options, host);
  const diagnostics = ts.getPreEmitDiagnostics(program);
  if (diagnostics.length > 0) {
    throw new Error(`The TypeScript SDK does not compile.\n${ts.formatDiagnostics(diagnostics, host)}`);
  }
  const emitted: PackageFile[] = [];
  program.emit(undefined, (path, text) => emitted.push(textFile(path.replace(/^\//, ''), text)));
  return emitted.sort(byPath);
}

function compilerOptions(folder: string): ts.CompilerOptions {
  const file = join(folder, 'tsconfig.json');
  const { config, error } = ts.readConfigFile(file, ts.sys.readFile);
  const { options, errors } = ts.convertCompilerOptionsFromJson(config?.compilerOptions, folder, file);
  const wrong = error ?? errors[0];
  if (wrong) {
    throw new Error(ts.flattenDiagnosticMessageText(wrong.messageText, '\n'));
  }
  const { rootDirs, ...rest } = options;
  return rest;
}

/** A file system with these files over the disk, which has libraries and packages. */
function hostOver(texts: ReadonlyMap<string, string>, options: ts.CompilerOptions): ts.CompilerHost {
  const { directoryExists, ...disk } = ts.createCompilerHost(options);
  return {
    ...disk,
    fileExists: (path) => texts.has(path) || disk.fileExists(path),
    readFile: (path) => texts.get(path) ?? disk.readFile(path),
    getSourceFile: (path, settings, onError, shouldCreate) => {
      const text = texts.get(path);
      return text === undefined
        ? disk.getSourceFile(path, settings, onError, shouldCreate)
        : ts.createSourceFile(path, text, settings);
    },
  };
}
