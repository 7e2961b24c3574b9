import { existsSync } from 'node:fs';
import { cp, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { inScratch, runTool } from './run-tool.js';

const VERSION = 'v1.27.0';
const MODULE = `github.com/oasdiff/oasdiff@${VERSION}`;

const cached = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'integration-service/oasdiff',
  VERSION,
  'oasdiff',
);

/** With the flags of the tests: for others, Go compiles its library anew. */
const BUILD = ['CGO_ENABLED=0', 'GOFLAGS=-modcacherw -trimpath'];

/** The pinned oasdiff, built with Go on first use; removes the caches, except one that GOCACHE names. */
export async function oasdiffPath(): Promise<string> {
  if (!existsSync(cached)) {
    await inScratch(build);
  }
  return cached;
}

async function build(scratch: string): Promise<void> {
  const folders = ['GOPATH', 'GOBIN', ...(process.env.GOCACHE ? [] : ['GOCACHE'])].map(
    (name) => `${name}=${join(scratch, name.toLowerCase())}`,
  );
  const install = [...BUILD, ...folders, 'go', 'install', MODULE];
  const { exitCode, output } = await runTool('env', install);
  if (exitCode !== 0) {
    throw new Error(
      `The check for breaking changes needs Go 1.25 or newer, to build oasdiff.\n${output.trim()}`,
    );
  }
  const staged = `${cached}.${process.pid}`;
  await cp(join(scratch, 'gobin/oasdiff'), staged);
  await rename(staged, cached);
}
