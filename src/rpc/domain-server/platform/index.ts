import { PlatformServiceService } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { limitedTo, notAllowed } from '../../../domain/platform/instance-limit.js';
import type { PlatformUnitOfWork } from '../../../domain/platform/unit-of-work.js';
import { type CallContext, serve } from '../../handlers.js';
import { accountHandlers } from './accounts.js';
import { credentialHandlers } from './credentials.js';
import { importHandlers } from './import.js';
import { organizationHandlers } from './organization.js';
import { perCall } from './origin.js';
import { userHandlers } from './users.js';
import { workerHandlers } from './workers.js';
import type { HandlerDependencies, PlatformDependencies, PlatformHandlers } from './write.js';

export type { PlatformDependencies } from './write.js';

/** The platform service: the back office writes; operators and support read. */
export function platformService({ unitOfWork, ...dependencies }: PlatformDependencies) {
  const handlers = handlersOver(dependencies);
  const all = { ...handlers, ...importHandlers(handlers) };
  return serve(PlatformServiceService, perCall(all, unitOfWork, reachOf));
}

/** About people of every instance: lists of them, and changes, which would take effect in each. */
const OF_ALL_INSTANCES: ReadonlySet<string> = new Set<keyof typeof PlatformServiceService>([
  'listAccounts',
  'updateAccount',
  'enableAccount',
  'disableAccount',
  'setPassword',
  'createPasswordLink',
  'createEmailVerificationLink',
  'createEmailChangeLink',
  'listAccountNotices',
  'acknowledgeAccountNotices',
  'listIntegrationNotices',
  'acknowledgeIntegrationNotices',
]);

/** The only place where the limit of a token becomes the reach of its call. */
function reachOf(
  unitOfWork: PlatformUnitOfWork,
  method: string,
  { instanceId }: CallContext,
): PlatformUnitOfWork {
  if (instanceId === undefined) {
    return unitOfWork;
  }
  if (OF_ALL_INSTANCES.has(method)) {
    throw notAllowed('This token is limited to one instance, and this call affects people of all.');
  }
  return limitedTo(instanceId, unitOfWork);
}

function handlersOver(platform: HandlerDependencies): PlatformHandlers {
  return {
    ...organizationHandlers(platform),
    ...userHandlers(platform),
    ...accountHandlers(platform),
    ...credentialHandlers(platform),
    ...workerHandlers(platform),
  };
}
