import { hostname } from 'node:os';
import { InstanceIntegrationStatus } from '../../../generated/proto/integration/operator/v1/connections.js';
import {
  type Subscription,
  SubscriptionStatus,
} from '../../../generated/proto/integration/webhooks/v1/subscriptions.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import { isLost, untilNextTry, waited } from './lost-connection.js';
import { listed } from './operator/listing.js';
import type { Session } from './operator/session.js';
import { disabledBecause } from './operator/subscription-facts.js';
import { say } from './print.js';
import { Unfinished } from './unfinished.js';

const LOOK_INTERVAL_MS = 1_000;
/** How long a service that went away may take to come back: `make dev` starts it anew with every change. */
const PATIENCE_MS = 30_000;
const REMOVAL_PATIENCE_MS = 5_000;
const LARGEST_PAGE = 500;

/** What is subscribed here, readable for the next one should this process be killed. */
const DESCRIPTION = /^integration listen, process (\d+) on (.+)$/;

export async function subscribe(
  { webhooks, call }: Session,
  request: { instanceIntegrationId: string; url: string; eventTypes: string[] },
): Promise<{ subscription: Subscription; secret: string }> {
  const description = `integration listen, process ${process.pid} on ${hostname()}`;
  const answer = await webhooks.createSubscription({ ...request, clientIds: [], description }, call);
  return { subscription: answer.subscription as Subscription, secret: answer.secret };
}

/** The one that was connected first: lists are newest first. */
export async function firstConnection({ operator, call }: Session): Promise<string> {
  const filter = { status: InstanceIntegrationStatus.CONFIGURED };
  const { rows } = await listed(undefined, async (page) => {
    const answer = await operator.listInstanceIntegrations({ ...filter, ...page }, call);
    return { rows: answer.instanceIntegrations, nextPageToken: answer.nextPageToken };
  });
  const first = rows.at(-1);
  if (!first) {
    throw new Unfinished(
      'There is no instance integration that is set up. `integration integration connect` makes one.',
    );
  }
  return first.id;
}

/** Removes what a listener left that was killed: every event would be tried there three times. */
export async function removeLeftovers(
  { webhooks, call }: Session,
  instanceIntegrationId: string,
): Promise<void> {
  const filter = { instanceIntegrationId, status: SubscriptionStatus.UNSPECIFIED };
  const page = { pageSize: LARGEST_PAGE, pageToken: '' };
  const { subscriptions } = await webhooks.listSubscriptions({ ...filter, ...page }, call);
  for (const { id, description } of subscriptions) {
    const [, pid, host] = DESCRIPTION.exec(description) ?? [];
    if (host === hostname() && !isRunning(Number(pid))) {
      await webhooks.deleteSubscription({ subscriptionId: id }, call);
      say(`Removed ${id}, which a listener left that was killed.`);
    }
  }
}

/** Until somebody asks to end, or there is nothing to wait for any more, which it throws. */
export async function watch(
  { webhooks, call }: Session,
  subscriptionId: string,
  stop: AbortSignal,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  let awaySince: number | undefined;
  let isActive = true;
  for (;;) {
    await waited(LOOK_INTERVAL_MS, stop);
    if (stop.aborted) {
      return;
    }
    try {
      const { subscription } = await webhooks.getSubscription({ subscriptionId }, { ...call, signal: stop });
      if (awaySince !== undefined) {
        say('The service is back.');
      }
      awaySince = undefined;
      isActive = tellOfStatus(subscription as Subscription, isActive);
    } catch (error) {
      if (stop.aborted) {
        return;
      }
      if (isGone(error)) {
        throw new Unfinished('Somebody deleted the subscription, so that nothing comes any more.');
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

function tellOfStatus(subscription: Subscription, wasActive: boolean): boolean {
  const isActive = subscription.status === SubscriptionStatus.ACTIVE;
  if (wasActive && !isActive) {
    const enabling = `integration subscription enable ${subscription.id}`;
    say(`The subscription is disabled: ${disabledBecause(subscription)}. Nothing comes until: ${enabling}`);
  }
  if (!wasActive && isActive) {
    say('The subscription is active again.');
  }
  return isActive;
}

/** Also where the service is just being started again. Who cannot be reached is named with what to type later. */
export async function unsubscribe({ webhooks, call }: Session, subscriptionId: string): Promise<void> {
  const impatientAt = performance.now() + REMOVAL_PATIENCE_MS;
  for (;;) {
    try {
      const deadlineMs = REMOVAL_PATIENCE_MS;
      await webhooks.deleteSubscription({ subscriptionId }, { ...call, deadlineMs });
      return;
    } catch (error) {
      if (isGone(error)) {
        return;
      }
      if (!isLost(error) || performance.now() > impatientAt) {
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

/** The number of this process can be that of an earlier one, too. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return pid !== process.pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
