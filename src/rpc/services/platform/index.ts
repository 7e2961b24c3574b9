import { PlatformServiceService } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { type Handlers, serve } from '../../handlers.js';
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
    perCall(platform, (itsPlatform) => ({
      ...handlersOver(itsPlatform),
      ...importHandlers(itsPlatform, handlersOver),
    })),
  );
}

function handlersOver(platform: PlatformDependencies): Handlers<typeof PlatformServiceService> {
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
