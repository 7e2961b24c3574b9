import { activityInfo, cancellationSignal } from '@temporalio/activity';

/** The context of each call to the domain. */
export interface DomainCall {
  requestId: string;
  /** Ends the call when the worker must stop. */
  signal: AbortSignal;
}

/** Its request id starts with workflow id and activity id, so that the domain's log refers to Temporal. */
export function domainCall(): DomainCall {
  const { activityId, attempt } = activityInfo();
  return { requestId: `${workflowId()}/${activityId}/${attempt}`, signal: cancellationSignal() };
}

export function workflowId(): string {
  return activityInfo().workflowExecution?.workflowId ?? 'standalone';
}
