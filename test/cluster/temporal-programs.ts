import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolderOf, installIntoCache } from '../../workflows/dev-server/cache.js';
import { saysItIsTemporal } from '../../workflows/dev-server/command.js';
import { presentTemporal } from '../../workflows/dev-server/find.js';
import { assertGo, buildWithGo } from '../../workflows/dev-server/go-install.js';
import { GO_BUILD_NEEDS_BYTES } from '../../workflows/dev-server/pinned.js';
import { reasonOf } from '../../workflows/log.js';
import type { PublicPorts } from './addresses.js';

/** As in the Compose file. Newer versions need a newer Go. */
export const TEMPORAL_SERVER_VERSION = '1.30.8';
const MODULE = 'go.temporal.io/server';
/** Go asks for the module first. */
const SILENCE_LIMIT_MS = 60_000;

export interface TemporalPrograms {
  server: string;
  sqlTool: string;
}

type Options = Partial<{ env: NodeJS.ProcessEnv; signal: AbortSignal; onProgress: (line: string) => void }>;

export function programsOf(env: NodeJS.ProcessEnv): TemporalPrograms {
  const folder = cacheFolderOf(env, 'temporal-server', TEMPORAL_SERVER_VERSION);
  return { server: join(folder, 'temporal-server'), sqlTool: join(folder, 'temporal-sql-tool') };
}

/** Those that were built before; undefined without them. */
export async function builtTemporal({ env = process.env, signal }: Options = {}) {
  const programs = programsOf(env);
  // The server is put there last.
  return (await saysItIsTemporal(programs.server, [], signal)) ? programs : undefined;
}

/** Builds the server and its schema tool unless it was done before. Throws a sentence. */
export async function findTemporalServer(options: Options = {}): Promise<TemporalPrograms> {
  const { env = process.env, signal, onProgress = () => undefined } = options;
  const built = await builtTemporal(options);
  if (built) {
    return built;
  }
  const install = { env, onProgress, silenceLimitMs: SILENCE_LIMIT_MS, ...(signal && { signal }) };
  const programs = programsOf(env);
  const commands = {
    title: `the Temporal server ${TEMPORAL_SERVER_VERSION}`,
    packages: [
      `${MODULE}/cmd/server@v${TEMPORAL_SERVER_VERSION}`,
      `${MODULE}/cmd/tools/sql@v${TEMPORAL_SERVER_VERSION}`,
    ],
  };
  try {
    await assertGo(install);
    await installIntoCache(programs.server, GO_BUILD_NEEDS_BYTES, async (folder) => {
      await buildWithGo(folder, commands, install);
      const server = join(folder, 'bin/server');
      if (!(await saysItIsTemporal(server, [], signal))) {
        throw new Error('what Go built does not run here');
      }
      await rename(join(folder, 'bin/sql'), programs.sqlTool);
      return server;
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(`The Temporal server is missing and could not be built: ${reasonOf(error)}.`, {
      cause: error,
    });
  }
  return programs;
}

/** What to try with a node of Temporal. The command line of Temporal is not built with the server. */
export async function howToAskTemporal(
  pid: number,
  { temporal: port }: Pick<PublicPorts, 'temporal'>,
  folder: string,
  env = process.env,
): Promise<string> {
  const killing = `\nKill a node of Temporal; retries go on:\n\n  kill -9 ${pid}\n`;
  const cli = await presentTemporal(env);
  const access = `--address 127.0.0.1:${port} --tls-ca-path ${folder}/temporal/ca.crt --namespace demo`;
  return cli ? `${killing}\nList the workflows:\n\n  ${cli} workflow list ${access}\n` : killing;
}
