import { UsageError } from '../errors.js';
import { inSession, type Session } from '../operator/session.js';
import { onReaderGone } from '../output/print.js';
import { stopSignal } from '../stop-signal.js';
import { type Target, type TargetOptions, targetOf } from '../target.js';
import { Forwarder } from './listen-forward.js';
import { printOpening, printReceipt } from './listen-lines.js';
import { Receiver } from './listen-receiver.js';
import {
  oldestInstanceIntegration,
  removeLeftovers,
  subscribe,
  unsubscribe,
  watch,
} from './listen-subscription.js';

export interface ListenOptions extends TargetOptions {
  forwardTo?: string;
  instanceIntegration?: string;
  events?: readonly string[];
  json?: boolean;
}

export async function listen(options: ListenOptions): Promise<void> {
  const target = demoTarget(options);
  const stop = stopSignal();
  onReaderGone(() => stop.abort());
  await inSession(target, async (session) => {
    const firstOfDemo = target.demo?.apiKeys?.[0]?.instanceIntegrationIds[0];
    const instanceIntegrationId =
      options.instanceIntegration ?? firstOfDemo ?? (await oldestInstanceIntegration(session));
    await removeLeftovers(session, instanceIntegrationId);
    if (!stop.signal.aborted) {
      await receive(session, instanceIntegrationId, options, stop.signal);
    }
  });
}

/** Starts the receiver first: posts may arrive as soon as the subscription exists. */
async function receive(
  session: Session,
  instanceIntegrationId: string,
  { forwardTo, events = ['*'], json }: ListenOptions,
  stop: AbortSignal,
): Promise<void> {
  const forwarder = forwardTo === undefined ? undefined : new Forwarder(forwardTo);
  let resolveSecret: (secret: string) => void = () => undefined;
  const subscribedSecret = new Promise<string>((resolve) => {
    resolveSecret = resolve;
  });
  const receiver = await Receiver.start({
    secret: subscribedSecret,
    forwarder,
    onReceipt: (receipt) => printReceipt(receipt, json),
  });
  try {
    const eventTypes = [...events];
    const request = { instanceIntegrationId, url: receiver.url, eventTypes };
    const { subscriptionId, secret } = await subscribe(session, request);
    try {
      printOpening({ subscriptionId, instanceIntegrationId, eventTypes, forwardTo, secret }, json);
      resolveSecret(secret);
      await watch(session, subscriptionId, stop);
    } finally {
      // A subscription that could not be deleted matters more: this error replaces an earlier one.
      await unsubscribe(session, subscriptionId);
    }
  } finally {
    await receiver.close();
    await forwarder?.close();
  }
}

function demoTarget(options: ListenOptions): Target {
  const target = process.env.ENVIRONMENT === 'live' ? undefined : targetOf(options);
  if (!target || target.token.startsWith('operator_live_')) {
    throw new UsageError(
      '`integration listen` works with a demo environment only: live posts to public https addresses. For live, use `integration subscription create`.',
    );
  }
  return target;
}
