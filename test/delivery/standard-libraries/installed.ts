import { join } from 'node:path';
import { goProgram, kept, run } from '../../support/kept-programs.js';

export const PYTHON_LIBRARY = 'standardwebhooks==1.1.0';

/** A Python environment with the library, made on first use. */
export function pythonWithLibrary(python: string): Promise<string> {
  const program = 'environment/bin/python';
  return kept({ place: 'standardwebhooks/python', content: PYTHON_LIBRARY, program }, async (folder) => {
    const environment = join(folder, 'environment');
    await run(python, ['-m', 'venv', '--copies', environment]);
    await run(join(environment, 'bin/python'), ['-m', 'pip', 'install', '--quiet', PYTHON_LIBRARY]);
  });
}

/** The program of verify.go, built on first use. */
export function goVerifier(go: string): Promise<string> {
  return goProgram(go, { folder: import.meta.dirname, program: 'verify', place: 'standardwebhooks/go' });
}
