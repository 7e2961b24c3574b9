import { join } from 'node:path';
import { kept } from '../../support/kept.js';
import { goProgram, run } from '../../support/kept-programs.js';

export const PYTHON_LIBRARY = 'standardwebhooks==1.1.0';

/** A Python environment with the library, made on first use. */
export async function pythonWithLibrary(python: string): Promise<string> {
  const folder = await kept('standardwebhooks/python', PYTHON_LIBRARY, async (staged) => {
    await run(python, ['-m', 'venv', '--copies', staged]);
    await run(join(staged, 'bin/python'), ['-m', 'pip', 'install', '--quiet', PYTHON_LIBRARY]);
  });
  return join(folder, 'bin/python');
}

/** The program of verify.go, built on first use. */
export function goVerifier(go: string): Promise<string> {
  return goProgram(go, { folder: import.meta.dirname, program: 'verify', place: 'standardwebhooks/go' });
}
