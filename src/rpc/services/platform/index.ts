import { PlatformServiceService } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { type AccountReach, limitedTo } from '../../../domain/platform/instance-limit.js';
import type { UnitOfWork } from '../../../domain/platform/unit-of-work.js';
import { type CallContext, type Handlers, serve } from '../../handlers.js';
import { accountHandlers } from './accounts.js';
import { clientHandlers } from './clients.js';
import { credentialHandlers } from './credentials.js';
import { importHandlers } from './import.js';
import { instanceHandlers } from './instances.js';
import { jobTitleHandlers } from './job-titles.js';
import { locationHandlers } from './locations.js';
import { perCall } from './origin.js';
import { roleHandlers } from './roles.js';
import { unitTypeHandlers } from './unit-types.js';
import { unitHandlers } from './units.js';
import { userHandlers } from './users.js';
import { workerHandlers } from './workers.js';
import type { PlatformDependencies } from './write.js';

export type { PlatformDependencies } from './write.js';

/** What the back office may do; operators and support read along. */
export function platformService(platform: PlatformDependencies) {
  return serve(
    PlatformServiceService,
    perCall(
      platform,
      (itsPlatform) => ({
        ...handlersOver(itsPlatform),
        ...importHandlers(itsPlatform, handlersOver),
      }),
      reachOf,
    ),
  );
}

type PlatformHandlers = Handlers<typeof PlatformServiceService>;

/** Of methods that name an account; all others reach one through a user or worker. */
const ACCOUNT_REACH: Partial<Record<string, AccountReach>> = {
  getAccount: 'member',
  updateAccount: 'own',
  enableAccount: 'own',
  disableAccount: 'own',
  setPassword: 'none',
  createPasswordLink: 'none',
  createEmailVerificationLink: 'none',
  createEmailChangeLink: 'none',
  listAccountNotices: 'none',
  acknowledgeAccountNotices: 'none',
};

/** The one place where the limit of a token becomes what its call can reach. */
function reachOf(unitOfWork: UnitOfWork, method: string, { instanceId }: CallContext): UnitOfWork {
  return instanceId ? limitedTo(instanceId, ACCOUNT_REACH[method] ?? 'any', unitOfWork) : unitOfWork;
}

function handlersOver(platform: PlatformDependencies): PlatformHandlers {
  return {
    ...instanceHandlers(platform),
    ...clientHandlers(platform),
    ...roleHandlers(platform),
    ...userHandlers(platform),
    ...accountHandlers(platform),
    ...credentialHandlers(platform),
    ...unitTypeHandlers(platform),
    ...unitHandlers(platform),
    ...locationHandlers(platform),
    ...jobTitleHandlers(platform),
    ...workerHandlers(platform),
  };
}
