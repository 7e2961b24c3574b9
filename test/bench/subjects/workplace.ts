import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Scope } from '../harness/scope.js';

/** A directory with a path short enough for sockets, removed with the scope. */
export function makeWorkplace(scope: Scope): string {
  const path = mkdtempSync(join(tmpdir(), 'bench-'));
  scope.onEnd(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
