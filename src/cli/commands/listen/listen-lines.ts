import { asJsonLine } from '../output/json.js';
import { print, say } from '../output/print.js';
import { printableLine } from '../output/printable.js';
import { asTime } from '../output/table.js';
import type { Receipt } from './listen-receiver.js';

/** The width of the longest type, so that columns align. */
const TYPE_WIDTH = 'organization_location.created'.length;

export interface Opening {
  subscriptionId: string;
  instanceIntegrationId: string;
  eventTypes: readonly string[];
  forwardTo: string | undefined;
  secret: string;
}

/** Prints the terms of the subscription; with JSON as the first line, so that a script can wait for it. */
export function printOpening(opening: Opening, json: boolean | undefined): void {
  if (json) {
    print(asJsonLine({ kind: 'listening', ...opening }));
    return;
  }
  const { subscriptionId, instanceIntegrationId, eventTypes, forwardTo, secret } = opening;
  const onwards = forwardTo === undefined ? 'answers 204' : `passes them on to ${forwardTo}`;
  say(`Listening for ${eventTypes.join(' ')} of ${instanceIntegrationId} with ${subscriptionId}; ${onwards}.

The signing secret, shown this once:

  ${secret}

Ctrl-C ends this and removes the subscription.
`);
}

export function printReceipt(receipt: Receipt, json: boolean | undefined): void {
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

/** The body as far as it has the shape of an event: any local process can post here. */
function contentOf(event: unknown): Content {
  const { type, entity } = (typeof event === 'object' && event !== null ? event : {}) as Record<
    string,
    unknown
  >;
  const { type: entityType, id } = (typeof entity === 'object' && entity !== null ? entity : {}) as Record<
    string,
    unknown
  >;
  return {
    ...(typeof type === 'string' && { type }),
    ...(typeof entityType === 'string' && typeof id === 'string' && { entity: { type: entityType, id } }),
  };
}
