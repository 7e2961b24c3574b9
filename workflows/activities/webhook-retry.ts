import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import type { AttemptToMake, RetryState, RoundOutcome } from '../contract.js';
import { attemptRound } from './attempt-round.js';
import { type DomainCall, domainCall } from './domain-call.js';
import type { RetryDependencies } from './retry-ports.js';
import { stateOf } from './retry-state.js';
import { SendSlots } from './send-slots.js';

export interface AttemptsRequest {
  subscriptionId: string;
  attempts: AttemptToMake[];
  beginForMs: number;
}

export interface WebhookRetryActivities {
  /** How far each delivery of the batch is; those that the domain no longer has in it are left out. */
  planRetries(request: { batchId: string }): Promise<RetryState[]>;
  /** Makes attempts, as far as it comes, and tells how far their deliveries are then. */
  attemptDeliveries(request: AttemptsRequest): Promise<RoundOutcome>;
  giveUpDeliveries(request: { deliveryIds: string[] }): Promise<RetryState[]>;
}

/** Three beats may be lost before the server gives up hope. */
const beatsPerTimeout = 4;
const beatEveryMs = 2_500;

export function createWebhookRetryActivities(dependencies: RetryDependencies): WebhookRetryActivities {
  const { domain, ending, sends } = dependencies;
  const slots = new SendSlots(sends);
  return {
    async planRetries({ batchId }) {
      const deliveries = await domain.retryBatch(batchId, domainCall());
      return deliveries.map((delivery) => stateOf(delivery));
    },
    async giveUpDeliveries({ deliveryIds }) {
      const deliveries = await domain.giveUp(deliveryIds, domainCall());
      return deliveries.map((delivery) => stateOf(delivery));
    },
    async attemptDeliveries({ subscriptionId, attempts, beginForMs }) {
      const stopBeating = beat();
      const { cut, stopWatching } = cutWhenEnding(ending);
      const cancelled = cancellationSignal();
      const beginUntil = Date.now() + beginForMs;
      try {
        return await attemptRound(attempts, {
          ...dependencies,
          slots,
          subscriptionId,
          call: uncancelledCall(),
          mayBegin: () => !cancelled.aborted && !ending.aborted && Date.now() < beginUntil,
          cut,
        });
      } finally {
        stopBeating();
        stopWatching();
      }
    },
  };
}

/** An attempt that has begun is recorded although its workflow is cancelled meanwhile: it counts all the same. */
function uncancelledCall(): DomainCall {
  return { ...domainCall(), signal: new AbortController().signal };
}

/** Cancelled by a workflow, attempts under way may end; cancelled because the worker's grace is over, they cannot. */
function cutWhenEnding(ending: AbortSignal) {
  const cancelled = cancellationSignal();
  const cutting = new AbortController();
  const cut = () => {
    if (ending.aborted) cutting.abort();
  };
  cancelled.addEventListener('abort', cut);
  return { cut: cutting.signal, stopWatching: () => cancelled.removeEventListener('abort', cut) };
}

function beat(): () => void {
  const { heartbeatTimeoutMs } = activityInfo();
  heartbeat();
  const everyMs = heartbeatTimeoutMs === undefined ? beatEveryMs : heartbeatTimeoutMs / beatsPerTimeout;
  const timer = setInterval(heartbeat, everyMs);
  // A round that outlives its worker must not keep the process.
  timer.unref();
  return () => clearInterval(timer);
}
