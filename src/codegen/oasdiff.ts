import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './layout.js';
import { runTool } from './run-tool.js';

const VERSION = 'v1.27.0';
const MODULE = `github.com/oasdiff/oasdiff@${VERSION}`;

const cached = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'integration-service/oasdiff',
  VERSION,
  'oasdiff',
);

/** The pinned oasdiff, built with Go on first use; removes the build caches. */
export async function oasdiffPath(): Promise<string> {
  if (await exists(cached)) {
    return cached;
  }
  const scratch = await mkdtemp(join(tmpdir(), 'integration-oasdiff-'));
  try {
    const settings = ['GOPATH', 'GOCACHE', 'GOBIN'].map(
      (name) => `${name}=${join(scratch, name.toLowerCase())}`,
    );
    const install = ['GOFLAGS=-modcacherw', ...settings, 'go', 'install', MODULE];
    const { exitCode, output } = await runTool('env', install, root);
    if (exitCode !== 0) {
      throw new Error(
        `The check for breaking changes needs Go 1.25 or newer, to build oasdiff.\n${output.trim()}`,
      );
    }
    await mkdir(join(cached, '..'), { recursive: true });
    const staged = `${cached}.${process.pid}`;
    await runTool('cp', [join(scratch, 'gobin/oasdiff'), staged]);
    await rename(staged, cached);
    return cached;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
