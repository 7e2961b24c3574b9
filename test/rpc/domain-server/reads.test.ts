import { expect, test } from '@jest/globals';
import { ServiceError } from '../../../src/errors/service-error.js';
import { maintenanceService } from '../../../src/rpc/domain-server/maintenance.js';
import { operatorService } from '../../../src/rpc/domain-server/operator/index.js';
import { platformService } from '../../../src/rpc/domain-server/platform/index.js';
import { signOnService } from '../../../src/rpc/domain-server/sign-on/index.js';
import { deliveryService } from '../../../src/rpc/domain-server/webhooks/delivery-service.js';
import { webhookService } from '../../../src/rpc/domain-server/webhooks/index.js';
import type { CallContext } from '../../../src/rpc/handlers.js';
import { operatorUnitOfWork } from '../../../src/store/adapters/operator/unit-of-work.js';
import { platformUnitOfWork } from '../../../src/store/adapters/platform/unit-of-work.js';
import { signOnUnitOfWork } from '../../../src/store/adapters/sign-on/unit-of-work.js';
import { sendingUnitOfWork } from '../../../src/store/adapters/webhooks/sending/unit-of-work.js';
import type { Database } from '../../../src/store/database.js';
import { tokenRig } from '../../domain/sign-on/token-rig.js';
import { describeEachDatabase } from '../../support/databases.js';
import { platformDependencies } from '../../support/platform-dependencies.js';

const context: CallContext = {
  ...{ requestId: 'req-1', identity: { caller: 'platform', tokenId: 'tok_1' } },
  ...{ remoteAddress: undefined, isCancelled: false, signal: new AbortController().signal },
};

const IS_READ = /^(get|list|show|verify|introspect|tail)[A-Z]/;

/** Whatever the request needs to get as far as the database. */
const requests: Record<string, object> = {
  getAccount: { key: { $case: 'accountId', value: 'acc_1' } },
  listCodeMinutesToWatch: { limit: 1 },
};

type Rig = Awaited<ReturnType<typeof tokenRig>>;

/** The services whose rules could write where they read: those of the directory have readers only. */
function servicesOver(database: Database, { issuer, clock }: Rig) {
  const signOn = signOnUnitOfWork(database);
  const over = (unitOfWork: unknown) =>
    ({
      unitOfWork,
      clock: clock.now,
      signOn,
      signingKeys: { unitOfWork: signOn },
      auditMac: () => Buffer.alloc(32),
      draining: AbortSignal.abort(),
    }) as never;
  return [
    platformService(platformDependencies(platformUnitOfWork(database))),
    operatorService(over(operatorUnitOfWork(database))),
    webhookService(over(operatorUnitOfWork(database))),
    deliveryService(over(sendingUnitOfWork(database))),
    maintenanceService(over(signOn)),
    signOnService({ ...issuer, unitOfWork: signOn }),
  ];
}

async function ended(answer: Promise<object> | AsyncIterable<object>): Promise<void> {
  if (!(Symbol.asyncIterator in answer)) {
    await answer;
    return;
  }
  for await (const _ of answer) {
    // Only how it ends is looked at.
  }
}

/** There is nothing to read. */
function isRefusal(error: unknown): void {
  if (!(error instanceof ServiceError)) {
    throw error;
  }
}

describeEachDatabase('a read', (under) => {
  test('of any service opens no transaction of a write', async () => {
    const rig = await tokenRig(under);
    const writing: string[] = [];
    let reading = '';
    const write = async () => {
      writing.push(reading);
      throw new Error('This is a read.');
    };
    const read: string[] = [];
    for (const { definition, handlers } of servicesOver({ ...rig.database, write }, rig)) {
      for (const name of Object.keys(definition).filter((method) => IS_READ.test(method))) {
        reading = name;
        read.push(name);
        const empty = definition[name]?.requestDeserialize(Buffer.alloc(0)) as object;
        const answer = handlers[name]?.({ ...empty, ...requests[name] } as never, context) as never;
        await ended(answer).catch(isRefusal);
      }
    }
    expect(writing).toEqual([]);
    expect(read.length).toBeGreaterThan(45);
  });
});
