import {
  Connection,
  type ConnectionOptions,
  isGrpcServiceError,
  ScheduleClient,
  type ScheduleDescription,
} from '@temporalio/client';
import { scheduleIds, searchAttributes, TASK_QUEUE } from './contract.js';
import { limitedCall } from './limited-call.js';

const ANSWER_LIMIT_MS = 3_000;
/** Servers log polls with a shorter deadline as errors. */
const POLL_LIMIT_MS = 25_000;
/** Longer than servers accept: they refuse such a poll at once as invalid, if the account may poll. */
const TOO_LONG_IDENTITY = 'x'.repeat(4_096);
/** `TASK_QUEUE_KIND_NORMAL` */
const NORMAL = 1;

/** gRPC status codes. */
export const NOT_FOUND = 5;
const PERMISSION_DENIED = 7;
const UNIMPLEMENTED = 12;

/** A namespace of a server, and the access to it. */
export interface TemporalPlace {
  /** host:port */
  address: string;
  namespace: string;
  tls?: ConnectionOptions['tls'];
  apiKey?: string;
}

/** Connects with the first call. */
export function connectionTo({ address, tls, apiKey }: TemporalPlace): Connection {
  return Connection.lazy({ address, tls, interceptors: [], ...(apiKey && { apiKey }) });
}

/** Whether the server answers and has the namespace; throws the reason if not. */
export async function askForNamespace(
  client: Connection,
  { address, namespace }: TemporalPlace,
  over: AbortSignal,
): Promise<void> {
  if (over.aborted) {
    return;
  }
  try {
    await limitedCall(client, over, ANSWER_LIMIT_MS, () =>
      client.workflowService.describeNamespace({ namespace }),
    );
  } catch (error) {
    if (over.aborted) {
      return;
    }
    throw hasStatus(error, NOT_FOUND) ? unknownNamespace(address, namespace) : error;
  }
}

/**
 * Throws a sentence if the account may not poll: the worker of the SDK would fail after a minute, and may
 * never end.
 */
export async function askToPoll(
  client: Connection,
  { address, namespace }: TemporalPlace,
  over: AbortSignal,
): Promise<void> {
  const taskQueue = { name: TASK_QUEUE, kind: NORMAL };
  const error: unknown = await limitedCall(client, over, POLL_LIMIT_MS, () =>
    client.workflowService.pollWorkflowTaskQueue({ namespace, taskQueue, identity: TOO_LONG_IDENTITY }),
  ).catch((thrown) => thrown);
  if (hasStatus(error, PERMISSION_DENIED)) {
    throw new Error(
      `Temporal at ${address} refuses polls in the namespace "${namespace}": give the account of the worker the right ` +
        'to poll and to complete tasks.',
    );
  }
}

/** What a namespace made by others lacks, as a sentence. One that cannot be asked counts as complete. */
export async function shortcomingOf(
  client: Connection,
  { address, namespace }: TemporalPlace,
  over: AbortSignal,
): Promise<string | undefined> {
  const missing = await limitedCall(client, over, ANSWER_LIMIT_MS, () =>
    missingSearchAttributes(client, namespace, searchAttributes),
  ).catch((error) => {
    if (hasStatus(error, PERMISSION_DENIED, UNIMPLEMENTED)) {
      return {};
    }
    throw error;
  });
  const entries = Object.entries(missing);
  if (entries.length === 0) {
    return undefined;
  }
  const names = entries.map(([name]) => name).join(', ');
  const options = entries.map(([name, type]) => `--name ${name} --type ${type}`).join(' ');
  return (
    `The namespace "${namespace}" at ${address} lacks the search attributes ${names}: add them with ` +
    `\`temporal operator search-attribute create --namespace ${namespace} ${options}\`.`
  );
}

export function hasStatus(error: unknown, ...codes: number[]): boolean {
  return isGrpcServiceError(error) && codes.includes(error.code);
}

function unknownNamespace(address: string, namespace: string): Error {
  return new Error(
    `Temporal at ${address} has no namespace "${namespace}": make it with ` +
      `\`temporal operator namespace create --namespace ${namespace}\`, or set TEMPORAL_NAMESPACE to one that it has.`,
  );
}

/** Names as for the CLI, numbers as in `temporal.api.enums.v1.IndexedValueType`. */
const attributeTypes = { Keyword: 2, KeywordList: 7 } as const;

export type SearchAttributes = Readonly<Record<string, keyof typeof attributeTypes>>;

/** The wanted attributes that the namespace lacks. */
export async function missingSearchAttributes(
  connection: Connection,
  namespace: string,
  wanted: SearchAttributes,
): Promise<SearchAttributes> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.entries(wanted).filter(([name]) => !(name in (customAttributes ?? {})));
  return Object.fromEntries(missing);
}

export async function addSearchAttributes(
  connection: Connection,
  namespace: string,
  attributes: SearchAttributes,
): Promise<void> {
  const searchAttributes = Object.fromEntries(
    Object.entries(attributes).map(([name, type]) => [name, attributeTypes[type]]),
  );
  await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
}

/** By which the installations on one Temporal differ. */
export interface OwnerClaim {
  issuer: string;
  /** The owner that this installation may replace. */
  replaces?: string | undefined;
  replacesAny?: boolean;
}

/** Two installations in one namespace would take each other's tasks. */
export class NamespaceTaken extends Error {}

/** In the action of each schedule, and so in its runs. */
export function ownerMemo(claim: OwnerClaim | undefined): { installation?: string } {
  return claim ? { installation: claim.issuer } : {};
}

/** Throws a sentence if the schedule is that of another installation. Earlier releases name no owner. */
export function refuseOther({ action }: Pick<ScheduleDescription, 'action'>, claim?: OwnerClaim): void {
  const owner = action.memo?.installation;
  if (!claim || claim.replacesAny || typeof owner !== 'string') {
    return;
  }
  if (owner !== claim.issuer && owner !== claim.replaces) {
    throw new NamespaceTaken(
      `The Temporal namespace belongs to the installation ${owner}, and SIGN_ON_URL is ${claim.issuer}: set ` +
        `TEMPORAL_NAMESPACE to a namespace of this installation alone, or PREVIOUS_SIGN_ON_URL=${owner} to replace it.`,
    );
  }
}

/** The same for a namespace, before its use. One that cannot be asked passes: the probes ask again. */
export async function askForOwner(
  connection: Connection,
  namespace: string,
  claim: OwnerClaim | undefined,
  over: AbortSignal,
): Promise<void> {
  const { purge } = scheduleIds;
  const client = new ScheduleClient({ connection, namespace });
  const schedule = await limitedCall(connection, over, ANSWER_LIMIT_MS, () =>
    client.getHandle(purge).describe(),
  ).catch(() => undefined);
  if (schedule) {
    refuseOther(schedule, claim);
  }
}
