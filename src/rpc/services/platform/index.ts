import { PlatformServiceService } from '../../../../generated/proto/integration/platform/v1/platform.js';
import type { UnitOfWork } from '../../../domain/platform/unit-of-work.js';
import { type Handlers, serve } from '../../handlers.js';
import { accountHandlers } from './accounts.js';
import { clientHandlers } from './clients.js';
import { importHandlers } from './import.js';
import { instanceHandlers } from './instances.js';
import { jobTitleHandlers } from './job-titles.js';
import { locationHandlers } from './locations.js';
import { roleHandlers } from './roles.js';
import { unitTypeHandlers } from './unit-types.js';
import { unitHandlers } from './units.js';
import { userHandlers } from './users.js';
import { workerHandlers } from './workers.js';

/** What the back office may do. Operators may do the same, for the day the back office cannot. */
export function platformService(unitOfWork: UnitOfWork) {
  return serve(PlatformServiceService, ['platform', 'operator'], {
    ...handlersOver(unitOfWork),
    ...importHandlers(unitOfWork, handlersOver),
  });
}

function handlersOver(unitOfWork: UnitOfWork): Handlers<typeof PlatformServiceService> {
  return {
    ...instanceHandlers(unitOfWork),
    ...clientHandlers(unitOfWork),
    ...roleHandlers(unitOfWork),
    ...userHandlers(unitOfWork),
    ...accountHandlers(unitOfWork),
    ...unitTypeHandlers(unitOfWork),
    ...unitHandlers(unitOfWork),
    ...locationHandlers(unitOfWork),
    ...jobTitleHandlers(unitOfWork),
    ...workerHandlers(unitOfWork),
  };
}
