import { join } from 'node:path';
import { Sqlite } from '../../../src/store/better-sqlite3.js';
import { freePorts } from '../../support/free-ports.js';
import type { Scope } from '../harness/scope.js';
import { databaseIn } from './service.js';
import { type StartedProcess, startNode, untilAnswers } from './started-process.js';

export const PEER_NAME = 'plain Fastify + better-sqlite3';

const MAIN = join(import.meta.dirname, 'plain-peer.js');

export interface RunningPeer extends StartedProcess {
  port: number;
}

/** A copy of the rows and the schema as the service left them. */
export function copyDatabase(workplace: string): string {
  const copy = join(workplace, 'peer.db');
  const database = new Sqlite(databaseIn(workplace), { readonly: true });
  try {
    database.prepare('VACUUM INTO ?').run(copy);
  } finally {
    database.close();
  }
  return copy;
}

/** Resolves at its first 200. */
export async function startPlainPeer(
  scope: Scope,
  { workplace, database, apiKey }: { workplace: string; database: string; apiKey: string },
): Promise<RunningPeer> {
  const [port] = (await freePorts(1)) as [number];
  const started = startNode(scope, {
    arguments: [MAIN, database, String(port)],
    logFile: join(workplace, 'peer.log'),
  });
  await untilAnswers(started, port, '/v1/instance-integrations', () => ({ 'x-api-key': apiKey }));
  return { ...started, port };
}
