import type { Comparison } from '../harness/comparison.js';
import { changes } from './changes.js';
import { hop } from './hop.js';
import { idleConnections } from './idle-connections.js';
import { importOfWorkers } from './import.js';
import { instanceIntegrations } from './instance-integrations.js';
import { memoryAtRest } from './memory-at-rest.js';
import { memoryOfSlowReaders } from './memory-of-slow-readers.js';
import { overload } from './overload.js';
import { secondStart } from './second-start.js';
import { severalDomains } from './several-domains.js';
import { signIn, tokensInStorm } from './sign-in.js';
import { sizeOfDirectory } from './size-of-directory.js';
import { slowReaders } from './slow-readers.js';
import { tokens, tokensOnPostgres } from './tokens.js';
import { waits } from './waits.js';
import { webhooks, webhooksOnPostgres } from './webhooks.js';
import { workers, workersOnPostgres } from './workers.js';
import { writeWithAudit, writeWithAuditOnPostgres } from './write-with-audit.js';
import { writeWithEvents } from './write-with-events.js';

/** In the order of the table. */
export const comparisons: readonly Comparison[] = [
  hop,
  ...instanceIntegrations,
  ...workers,
  ...sizeOfDirectory,
  ...changes,
  waits,
  writeWithEvents,
  writeWithAudit,
  importOfWorkers,
  ...tokens,
  signIn,
  tokensInStorm,
  ...webhooks,
  secondStart,
  memoryAtRest,
  idleConnections,
  memoryOfSlowReaders,
  slowReaders,
  overload,
  ...workersOnPostgres,
  writeWithAuditOnPostgres,
  ...tokensOnPostgres,
  ...webhooksOnPostgres,
  ...severalDomains,
];
