import { print, say } from '../output/print.js';
import { asJsonLine, printableLine } from '../output/printable.js';
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

/** Prints the subscription and its secret; with `--json` as the first line, for which a script can wait. */
export function printOpening(opening: Opening, json: boolean | undefined): void {
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
