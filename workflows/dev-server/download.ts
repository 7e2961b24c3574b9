import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { reasonOf } from '../log.js';
import { cachedExecutable, type InstallOptions, installIntoCache } from './cache.js';
import { isTemporal, runCommand } from './command.js';
import { DOWNLOAD_NEEDS_BYTES, TEMPORAL_VERSION } from './pinned.js';

const EXTRACT_LIMIT_MS = 60_000;
const PROGRESS_EVERY_BYTES = 16 * 1024 ** 2;

/** The official archive. Throws a reason without a full stop. */
export function download(baseUrl: string, options: InstallOptions): Promise<string> {
  const url = `${baseUrl}/v${TEMPORAL_VERSION}?${platformQuery()}`;
  return installIntoCache(cachedExecutable(options.env), DOWNLOAD_NEEDS_BYTES, async (folder) => {
    const archive = path.join(folder, 'temporal.tar.gz');
    await fetchTo(url, archive, options);
    const { code, lastLines } = await runCommand('tar', ['-xzf', archive, '-C', folder, 'temporal'], {
      signal: options.signal,
      silenceLimitMs: EXTRACT_LIMIT_MS,
    });
    const executable = path.join(folder, 'temporal');
    if (code !== 0) {
      throw new Error(`the downloaded archive cannot be extracted (${lastLines.at(-1) ?? 'tar failed'})`);
    }
    if (!(await isTemporal(executable, options.signal))) {
      throw new Error('the downloaded file does not run here');
    }
    return executable;
  });
}

function platformQuery(): string {
  const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch as string];
  if (!arch || !['linux', 'darwin'].includes(process.platform)) {
    throw new Error(`there is no download for ${process.platform} on ${process.arch}`);
  }
  return new URLSearchParams({ platform: process.platform, arch }).toString();
}

/** Gives up after the limit without data, before or during the answer. */
async function fetchTo(url: string, file: string, { signal, onProgress, silenceLimitMs }: InstallOptions) {
  const giveUp = new AbortController();
  const silence = setTimeout(() => giveUp.abort(), silenceLimitMs);
  const over = AbortSignal.any([giveUp.signal, ...(signal ? [signal] : [])]);
  try {
    onProgress(`Downloading Temporal ${TEMPORAL_VERSION} from ${new URL(url).host}`);
    const response = await fetch(url, { signal: over });
    if (!response.ok || !response.body) {
      throw new Error(`the answer was ${response.status}`);
    }
    const body = Readable.fromWeb(response.body as import('node:stream/web').ReadableStream);
    await pipeline(body, countBytes(silence, onProgress), createWriteStream(file), { signal: over });
  } catch (error) {
    signal?.throwIfAborted();
    const reason = giveUp.signal.aborted ? `silent for ${silenceLimitMs / 1000} s` : reasonOf(error);
    throw new Error(`${new URL(url).host} could not be read (${reason})`);
  } finally {
    clearTimeout(silence);
  }
}

function countBytes(silence: NodeJS.Timeout, onProgress: InstallOptions['onProgress']) {
  return async function* (chunks: AsyncIterable<Buffer>) {
    let bytes = 0;
    for await (const chunk of chunks) {
      silence.refresh();
      const before = Math.floor(bytes / PROGRESS_EVERY_BYTES);
      bytes += chunk.length;
      if (Math.floor(bytes / PROGRESS_EVERY_BYTES) > before) {
        onProgress(`Downloading Temporal ${TEMPORAL_VERSION}: ${Math.floor(bytes / 1024 ** 2)} MB`);
      }
      yield chunk;
    }
  };
}
