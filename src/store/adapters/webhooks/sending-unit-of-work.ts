import type { Clock } from '../../../domain/clock.js';
import type { SendingUnitOfWork } from '../../../domain/webhooks/sending.js';
import type { Database } from '../../database.js';
import { retryBatchRows, sendingRows } from './retry-batches.js';
import { claiming } from './sending-claims.js';
import { receiverHealth } from './sending-health.js';
import { recording } from './sending-results.js';

export function sendingUnitOfWork({ reader, write }: Database, clock: Clock = Date.now): SendingUnitOfWork {
  return {
    rows: sendingRows(reader),
    run: (work) =>
      write((writer) => {
        const now = clock();
        return work({
          now,
          ...claiming(writer, now),
          ...recording(writer, now),
          ...receiverHealth(writer, now),
          retryBatches: retryBatchRows(writer, now),
        });
      }),
  };
}
