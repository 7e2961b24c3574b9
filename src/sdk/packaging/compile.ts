import { join } from 'node:path';
import ts from 'typescript';
import { byPath, type PackageFile, textFile } from './files.js';

/** Compiles sources in memory, as if they were in `src/` of the folder, to JavaScript and declarations. */
export function compile(folder: string, sources: readonly PackageFile[]): PackageFile[] {
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
