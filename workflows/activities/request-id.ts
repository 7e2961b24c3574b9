import { activityInfo } from '@temporalio/activity';

/** Begins with workflow id and activity id, so that a line in the domain's log leads back to Temporal. */
export function activityRequestId(): string {
  const { workflowExecution, activityId, attempt } = activityInfo();
  return `${workflowExecution?.workflowId ?? 'standalone'}/${activityId}/${attempt}`;
}
