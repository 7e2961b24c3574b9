import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { Instance } from '../platform/rows/instances.js';
import type { OperatorRows } from './unit-of-work.js';

/** The instance that a field of the request names. */
export async function requireInstance(
  rows: Pick<OperatorRows, 'instances'>,
  id: string,
  path: string,
): Promise<Instance> {
  const instance = await rows.instances.find(id);
  if (!instance) {
    const fieldViolations = [{ path, message: 'is not the id of an instance' }];
    throw new ServiceError(ErrorCode.INSTANCE_NOT_FOUND, 'There is no such instance.', { fieldViolations });
  }
  return instance;
}
