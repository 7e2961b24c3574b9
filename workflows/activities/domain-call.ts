import { activityInfo, cancellationSignal } from '@temporalio/activity';

/** The context of each call to the domain. */
export interface DomainCall {
  requestId: string;
  /** Ends the call when the worker must stop. */
  signal: AbortSignal;
}

export function domainCall(): DomainCall {
  return { requestId: activityRequestId(), signal: cancellationSignal() };
}

/** Starts with workflow id and activity id, so that the domain's log refers to Temporal. */
function activityRequestId(): string {
  const { activityId, attempt } = activityInfo();
  return `${workflowId()}/${activityId}/${attempt}`;
}

export function workflowId(): string {
  return activityInfo().workflowExecution?.workflowId ?? 'standalone';
}
