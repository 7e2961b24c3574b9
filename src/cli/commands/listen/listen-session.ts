import { stopSignal } from '../../stop-signals.js';
import { UsageError } from '../errors.js';
import { inSession, type Session } from '../operator/session.js';
import { TYPE_WIDTH } from '../operator/webhooks/delivery-tail.js';
import { onReaderGone, print, say } from '../output/print.js';
import { asJsonLine, printableLine } from '../output/printable.js';
import { asTime } from '../output/table.js';
import { type Target, type TargetOptions, targetOf } from '../target.js';
import { Forwarder, type Receipt, Receiver } from './listen-receiver.js';
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

interface Opening {
  subscriptionId: string;
  instanceIntegrationId: string;
  eventTypes: readonly string[];
  forwardTo: string | undefined;
  secret: string;
}

/** Prints the subscription and its secret; with `--json` as the first line, for which a script can wait. */
function printOpening(opening: Opening, json: boolean | undefined): void {
  if (json) {
    print(asJsonLine({ kind: 'listening', ...opening }));
    return;
  }
  const { subscriptionId, instanceIntegrationId, eventTypes, forwardTo, secret } = opening;
  const use = forwardTo === undefined ? 'answered with 204' : `forwarded to ${forwardTo}`;
  say(`Listening for ${eventTypes.join(' ')} of ${instanceIntegrationId} with subscription ${subscriptionId}.
Each event is ${use}.

The signing secret, shown only once:

  ${secret}

Ctrl-C ends this and removes the subscription.
`);
}

function printReceipt(receipt: Receipt, json: boolean | undefined): void {
  const { type, entity } = contentOf(receipt.event);
  if (json) {
    print(asJsonLine({ kind: 'event', type, entity, ...receipt }));
    return;
  }
  const { receivedAt, verified, problem, again, status, durationMs } = receipt;
  const about = entity === undefined ? '-' : `${entity.type} ${entity.id}`;
  print(
    [
      asTime(receivedAt),
      printableLine(type ?? '-').padEnd(TYPE_WIDTH),
      printableLine(about),
      `${verified ? 'verified' : 'NOT VERIFIED'}${again ? ', again' : ''}`,
      `${status} in ${durationMs} ms${problem === undefined ? '' : `: ${printableLine(problem)}`}`,
    ].join('  '),
  );
}

interface Content {
  type?: string;
  entity?: { type: string; id: string };
}

/** Checks the body, because any local process can post here. */
function contentOf(event: unknown): Content {
  const { type, entity } = membersOf(event);
  const { type: entityType, id } = membersOf(entity);
  return {
    ...(typeof type === 'string' && { type }),
    ...(typeof entityType === 'string' && typeof id === 'string' && { entity: { type: entityType, id } }),
  };
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
