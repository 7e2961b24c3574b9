import type { SendingUnitOfWork } from '../../../../domain/webhooks/sending/sending.js';
import type { Database } from '../../../database.js';
import { unitOfWorkOver } from '../../unit-of-work.js';
import { claiming } from './claims.js';
import { DueLooks, type LookLimits } from './due-looks.js';
import { receiverHealth } from './health.js';
import { recording } from './results.js';
import { retryBatchRows, sendingRows } from './retry-batches.js';
import { settingBack } from './set-back.js';

export function sendingUnitOfWork(
  database: Database,
  onLookFailed?: (error: unknown) => void,
  lookLimits?: LookLimits,
): SendingUnitOfWork {
  const looks = new DueLooks(database.patient, onLookFailed, lookLimits);
  return unitOfWorkOver(
    database,
    (reader) => sendingRows(reader, looks),
    (writer, { now, audit }) => ({
      now,
      audit,
      ...claiming(writer, now, looks),
      ...recording(writer, now),
      ...receiverHealth(writer, now),
      ...settingBack(writer, now),
      retryBatches: retryBatchRows(writer, now),
    }),
  );
}
