import { demoFilePath, readDemoFile } from '../../demo/demo-file.js';
import { clientConfig } from '../client-config.js';
import { inSession, type Session } from '../operator/session.js';
import { onReaderGone } from '../output/print.js';
import { stopSignal } from '../stop-signal.js';
import { type Target, type TargetOptions, targetOf } from '../target.js';
import { UsageError } from '../usage-error.js';
import { Forwarder } from './listen-forward.js';
import { printOpening, printReceipt } from './listen-lines.js';
import { Receiver } from './listen-receiver.js';
import { firstConnection, removeLeftovers, subscribe, unsubscribe, watch } from './listen-subscription.js';

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
    const instanceIntegrationId =
      options.instanceIntegration ?? firstOfDemo(target) ?? (await firstConnection(session));
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
  const { promise: secret, resolve: tellSecret } = promised<string>();
  const receiver = await Receiver.start({
    secret,
    forwarder,
    onReceipt: (receipt) => printReceipt(receipt, json),
  });
  try {
    const eventTypes = [...events];
    const made = await subscribe(session, { instanceIntegrationId, url: receiver.url, eventTypes });
    const subscriptionId = made.subscription.id;
    await untilRemoved(session, subscriptionId, async () => {
      printOpening(
        { subscriptionId, instanceIntegrationId, eventTypes, forwardTo, secret: made.secret },
        json,
      );
      tellSecret(made.secret);
      await watch(session, subscriptionId, stop);
    });
  } finally {
    await receiver.close();
    await forwarder?.close();
  }
}

/** A subscription that stays behind is the worse fault, so its message replaces the error of the work. */
async function untilRemoved(
  session: Session,
  subscriptionId: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } finally {
    await unsubscribe(session, subscriptionId);
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

/** Its first instance integration, if the demo of these settings is the one that is called. */
function firstOfDemo({ address }: Target): string | undefined {
  const config = clientConfig();
  const demo = readDemoFile(demoFilePath(config.DATA_DIR));
  return demo?.grpcAddress === address ? demo.apiKeys?.[0]?.instanceIntegrationIds[0] : undefined;
}

function promised<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
