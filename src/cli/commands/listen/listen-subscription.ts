import { hostname } from 'node:os';
import { InstanceIntegrationStatus } from '../../../../generated/proto/integration/operator/v1/connections.js';
import {
  type Subscription,
  SubscriptionStatus,
} from '../../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import { pause } from '../../../../workflows/backoff.js';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';
import { isRunning } from '../../../files/staged.js';
import { Unfinished } from '../errors.js';
import { isLost, untilNextTry } from '../lost-connection.js';
import type { Session } from '../operator/session.js';
import { listed } from '../operator/showing.js';
import { disabledBecause } from '../operator/webhooks/subscription.js';
import { say } from '../output/print.js';

const POLL_INTERVAL_MS = 1_000;
/** How long the service may be away: `make dev` restarts it on every change. */
const PATIENCE_MS = 30_000;
const REMOVAL_PATIENCE_MS = 5_000;

/** Names the process that subscribed, so that the next one can clean up if this one is killed. */
const DESCRIPTION = /^integration listen, process (\d+) on (.+)$/;

export async function subscribe(
  { webhooks }: Session,
  request: { instanceIntegrationId: string; url: string; eventTypes: string[] },
): Promise<{ subscriptionId: string; secret: string }> {
  const description = `integration listen, process ${process.pid} on ${hostname()}`;
  const { subscription, secret } = await webhooks.createSubscription({
    ...request,
    clientIds: [],
    description,
  });
  return { subscriptionId: (subscription as Subscription).id, secret };
}

/** The last of the list, which is newest first. */
export async function oldestInstanceIntegration({ operator }: Session): Promise<string> {
  const status = InstanceIntegrationStatus.CONFIGURED;
  const { rows } = await listed('instanceIntegrations', (page) =>
    operator.listInstanceIntegrations({ status, ...page }),
  );
  const first = rows.at(-1);
  if (!first) {
    throw new Unfinished('No instance integration is set up. `integration integration connect` makes one.');
  }
  return first.id;
}

/** Deletes the subscriptions of killed listeners, which would get three attempts for each event. */
export async function removeLeftovers({ webhooks }: Session, instanceIntegrationId: string): Promise<void> {
  const filter = { instanceIntegrationId, status: SubscriptionStatus.UNSPECIFIED };
  const { rows } = await listed('subscriptions', (page) =>
    webhooks.listSubscriptions({ ...filter, ...page }),
  );
  for (const { id, description } of rows) {
    const [, pid, host] = DESCRIPTION.exec(description) ?? [];
    // Of an earlier process with the id of this one, which has subscribed to nothing yet.
    if (host === hostname() && (Number(pid) === process.pid || !isRunning(Number(pid)))) {
      await webhooks.deleteSubscription({ subscriptionId: id });
      say(`Removed ${id}, the subscription of a listener that was killed.`);
    }
  }
}

/** Returns when `stop` is aborted, throws when the subscription is deleted or the service stays away. */
export async function watch(
  { webhooks }: Session,
  subscriptionId: string,
  stop: AbortSignal,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  let awaySince: number | undefined;
  let isActive = true;
  for (;;) {
    await pause(POLL_INTERVAL_MS, stop);
    if (stop.aborted) {
      return;
    }
    try {
      const { subscription } = await webhooks.getSubscription({ subscriptionId }, { signal: stop });
      if (awaySince !== undefined) {
        say('The service is back.');
      }
      awaySince = undefined;
      isActive = reportStatusChange(subscription as Subscription, isActive);
    } catch (error) {
      if (stop.aborted) {
        return;
      }
      if (isGone(error)) {
        throw new Unfinished('The subscription was deleted, so no more events arrive.');
      }
      if (!isLost(error) || performance.now() - (awaySince ?? performance.now()) > patienceMs) {
        throw error;
      }
      if (awaySince === undefined) {
        awaySince = performance.now();
        say('The service does not answer. Waiting until it is back; Ctrl-C ends.');
      }
    }
  }
}

function reportStatusChange(subscription: Subscription, wasActive: boolean): boolean {
  const isActive = subscription.status === SubscriptionStatus.ACTIVE;
  if (wasActive && !isActive) {
    const enabling = `integration subscription enable ${subscription.id}`;
    say(
      `The subscription is disabled: ${disabledBecause(subscription)}. To receive events again: ${enabling}`,
    );
  }
  if (!wasActive && isActive) {
    say('The subscription is active again.');
  }
  return isActive;
}

/** Retries while the service restarts. If it stays away, the error says how to remove the subscription. */
export async function unsubscribe({ webhooks }: Session, subscriptionId: string): Promise<void> {
  const giveUpAt = performance.now() + REMOVAL_PATIENCE_MS;
  for (;;) {
    try {
      await webhooks.deleteSubscription({ subscriptionId }, { deadlineMs: REMOVAL_PATIENCE_MS });
      return;
    } catch (error) {
      if (isGone(error)) {
        return;
      }
      if (!isLost(error) || performance.now() > giveUpAt) {
        throw new Unfinished(
          `The subscription ${subscriptionId} could not be removed: ${(error as Error).message}\nRemove it with:\n\n  integration subscription delete ${subscriptionId} --yes\n`,
        );
      }
    }
    await untilNextTry();
  }
}

function isGone(error: unknown): boolean {
  return error instanceof ServiceError && error.code === ErrorCode.SUBSCRIPTION_NOT_FOUND;
}
