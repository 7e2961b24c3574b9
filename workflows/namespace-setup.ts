import type { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { pause } from './backoff.js';
import { NAMESPACE_RETENTION_MS, searchAttributes } from './contract.js';
import { limitedCall } from './limited-call.js';
import { reasonOf } from './log.js';
import {
  addSearchAttributes,
  askForOwner,
  connectionTo,
  hasStatus,
  missingSearchAttributes,
  NOT_FOUND,
  type OwnerClaim,
  type TemporalPlace,
} from './namespace.js';

export interface NamespaceSetup {
  isNew: boolean;
  /** The names of those that the namespace lacked. */
  addedAttributes: string[];
}

const ANSWER_LIMIT_MS = 10_000;
/** A front end is healthy some seconds after it listens. Nodes read the list of namespaces every 10 s. */
const READY_WITHIN_MS = 30_000;
const ASK_EVERY_MS = 500;

const never = new AbortController().signal;

/** gRPC status codes. */
const ALREADY_EXISTS = 6;
const UNAVAILABLE = 14;

/** A server that does not answer at all has the same status. */
const isStarting = (error: unknown) =>
  hasStatus(error, UNAVAILABLE) && reasonOf(error).includes('not healthy yet');
const isNotYetKnown = (error: unknown) => hasStatus(error, NOT_FOUND);

/**
 * Makes the namespace and its search attributes where they are missing; changes nothing that exists. Refuses
 * the namespace of another installation.
 */
export async function setUpNamespace(place: TemporalPlace, owner?: OwnerClaim): Promise<NamespaceSetup> {
  const { namespace } = place;
  const connection = connectionTo(place);
  const call: Call = (request) => limitedCall(connection, never, ANSWER_LIMIT_MS, request);
  try {
    const isNew = await makeNamespace(connection, namespace, call);
    await askForOwner(connection, namespace, owner, never);
    const missing = await repeated(isNotYetKnown, () =>
      call(() => missingSearchAttributes(connection, namespace, searchAttributes)),
    );
    const addedAttributes = Object.keys(missing);
    if (addedAttributes.length > 0) {
      await repeated(isNotYetKnown, () => call(() => addSearchAttributes(connection, namespace, missing)));
    }
    return { isNew, addedAttributes };
  } finally {
    await connection.close().catch(() => undefined);
  }
}

type Call = <T>(request: () => Promise<T>) => Promise<T>;

/** False if it exists, also if another process makes it at the same time. */
async function makeNamespace(connection: Connection, namespace: string, call: Call): Promise<boolean> {
  const { workflowService } = connection;
  try {
    // Asked first: an account that may not make namespaces can use one that exists.
    await repeated(isStarting, () => call(() => workflowService.describeNamespace({ namespace })));
    return false;
  } catch (error) {
    if (!hasStatus(error, NOT_FOUND)) {
      throw error;
    }
  }
  try {
    const workflowExecutionRetentionPeriod = msToTs(NAMESPACE_RETENTION_MS);
    await call(() => workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod }));
    return true;
  } catch (error) {
    if (!hasStatus(error, ALREADY_EXISTS)) {
      throw error;
    }
    return false;
  }
}

async function repeated<T>(mayPass: (error: unknown) => boolean, request: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + READY_WITHIN_MS;
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (!mayPass(error) || Date.now() > deadline) {
        throw error;
      }
      await pause(ASK_EVERY_MS, never);
    }
  }
}
