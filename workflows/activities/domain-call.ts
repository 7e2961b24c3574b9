import { activityInfo, cancellationSignal } from '@temporalio/activity';

export interface DomainCall {
  requestId: string;
  /** Ends the call when the worker must stop. */
  signal: AbortSignal;
}

/** The domain takes request ids of up to 200 characters. Temporal takes longer ids. */
const LONGEST_SHOWN = { workflowId: 150, activityId: 40 };

/** Its request id starts with workflow id and activity id, so that the domain's log refers to Temporal. */
export function domainCall(): DomainCall {
  const { activityId, attempt } = activityInfo();
  return { requestId: requestIdOf(workflowId(), activityId, attempt), signal: cancellationSignal() };
}

/**
 * Percent-encodes both ids, which anyone with access to Temporal chooses: the domain would replace a request
 * id with other characters by a random one, and its records would not refer to the workflow.
 */
export function requestIdOf(workflowId: string, activityId: string, attempt: number): string {
  return `${shown(workflowId, LONGEST_SHOWN.workflowId)}/${shown(activityId, LONGEST_SHOWN.activityId)}/${attempt}`;
}

function shown(id: string, longest: number): string {
  const encoded = id.replace(/[^A-Za-z0-9._:/-]/gu, (one) =>
    [...Buffer.from(one)].map((byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`).join(''),
  );
  return encoded.slice(0, longest);
}

export function workflowId(): string {
  return activityInfo().workflowExecution?.workflowId ?? 'standalone';
}
