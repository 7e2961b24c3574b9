import { activityInfo, cancellationSignal } from '@temporalio/activity';

/** What goes with each call to the domain. */
export interface DomainCall {
  requestId: string;
  /** Ends the call when the worker must go. */
  signal: AbortSignal;
}

export function domainCall(): DomainCall {
  return { requestId: activityRequestId(), signal: cancellationSignal() };
}

/** Begins with workflow id and activity id, so that a line in the domain's log leads back to Temporal. */
function activityRequestId(): string {
  const { workflowExecution, activityId, attempt } = activityInfo();
  return `${workflowExecution?.workflowId ?? 'standalone'}/${activityId}/${attempt}`;
}
