import type { ClientId } from '../../../../generated/ids.js';
import { ErrorCode, ServiceError } from '../../../errors/service-error.js';

/** Integrations get the titles of a client in one message, and its structure in another. */
const MOST = 10_000;

/** Refuses what was just added where the client has too many now. The client must be locked. */
export async function assertRoom(
  rows: { count(clientId: ClientId): Promise<number> },
  clientId: ClientId,
  kinds: 'job titles' | 'locations' | 'units' | 'unit types',
): Promise<void> {
  if ((await rows.count(clientId)) > MOST) {
    const message = `A client has at most ${MOST} ${kinds}. Remove some first.`;
    throw new ServiceError(ErrorCode.TRANSITION_REFUSED, message);
  }
}
