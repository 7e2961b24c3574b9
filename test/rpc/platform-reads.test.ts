import { expect, test } from '@jest/globals';
import { PlatformServiceService as methods } from '../../generated/proto/integration/platform/v1/platform.js';
import { ServiceError } from '../../src/errors/service-error.js';
import type { CallContext } from '../../src/rpc/handlers.js';
import { platformService } from '../../src/rpc/services/platform/index.js';
import { unitOfWork } from '../../src/store/adapters/platform/unit-of-work.js';
import { describeEachDatabase } from '../support/databases.js';
import { platformDependencies } from '../support/platform-dependencies.js';

const context: CallContext = {
  ...{ requestId: 'req-1', caller: 'platform', instanceId: undefined, tokenId: 'tok_1' },
  ...{ remoteAddress: undefined, signal: new AbortController().signal },
};

const READS = Object.keys(methods).filter((name) =>
  /^(get|list)[A-Z]/.test(name),
) as (keyof typeof methods)[];

/** Whatever the request needs to get as far as the database. */
const requests: Partial<Record<keyof typeof methods, object>> = {
  getAccount: { key: { $case: 'accountId', value: 'acc_1' } },
};

describeEachDatabase('a read of the platform', (under) => {
  test.each(READS)('by %s opens no transaction of a write', async (name) => {
    const database = await under.openMigrated();
    const works: unknown[] = [];
    const watched = {
      ...unitOfWork(database),
      run: async (work: unknown) => {
        works.push(work);
        throw new Error('This is a read.');
      },
    };
    const { handlers } = platformService(platformDependencies(watched));
    const request = { ...methods[name].requestDeserialize(Buffer.alloc(0)), ...requests[name] };
    const answer = handlers[name]?.(request as never, context) as Promise<object>;
    await answer.catch((error: unknown) => expect(error).toBeInstanceOf(ServiceError));
    expect(works).toEqual([]);
  });
});
