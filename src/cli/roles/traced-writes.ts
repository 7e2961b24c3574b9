import type { UnitOfWork } from '../../domain/unit-of-work.js';
import { currentTraceparent, inSpanOfTrace } from '../../telemetry/tracing.js';

/** The unit of work with a span for each write, from its turn in the queue to the sync of its commit. */
export function traced<Changes, Rows>(unitOfWork: UnitOfWork<Changes, Rows>): UnitOfWork<Changes, Rows> {
  return {
    ...unitOfWork,
    run: (work, options) =>
      inSpanOfTrace('write', { kind: 'internal' }, () =>
        unitOfWork.run(work, { ...options, traceparent: currentTraceparent() }),
      ),
  };
}
