import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Scope } from '../harness/scope.js';

/** A directory of its own, short enough for a socket in it, removed with the scope. */
export function makeWorkplace(scope: Scope): string {
  const path = mkdtempSync(join(tmpdir(), 'bench-'));
  scope.onEnd(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
