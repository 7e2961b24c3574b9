import { goProgram } from '../../support/kept-programs.js';

/** The program of verify.go, built on first use. */
export function goVerifier(go: string): Promise<string> {
  return goProgram(go, { folder: import.meta.dirname, program: 'verify', place: 'standardwebhooks/go' });
}
