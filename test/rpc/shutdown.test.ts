import { describe, expect, test } from '@jest/globals';
import { MaintenanceServiceService } from '../../generated/proto/integration/maintenance/v1/maintenance.js';
import { ErrorCode } from '../../src/errors/service-error.js';
import { serve } from '../../src/rpc/handlers.js';
import { closeRpcServer, createRpcServer } from '../../src/rpc/server.js';
import { LONGER_THAN_A_TEST_MS } from '../support/eventually.js';
import { freePorts } from '../support/free-ports.js';
import { signalled } from '../support/signalled.js';
import { unheardAudit } from '../support/unheard-audit.js';
import { refusalOf, rpcRigs } from './rig.js';

const ANSWER = { counts: [], more: false, otherRunActive: false };

describe('closing a server', () => {
  const rigs = rpcRigs();

  /** A method that answers when it is let, and says when it was reached. */
  async function holding() {
    const { told: underWay, tell: reached } = signalled();
    const { told: held, tell: letGo } = signalled();
    const purgeExpired = async () => {
      reached();
      await held;
      return ANSWER;
    };
    const rig = await rigs.start([serve(MaintenanceServiceService, { purgeExpired })]);
    const { purgeExpired: call } = rig.channel().clientOf(MaintenanceServiceService);
    return {
      ...rig,
      call: () => call({ limit: 1 }, { requestId: 'r', deadlineMs: 20_000 }),
      underWay,
      letGo,
    };
  }

  test('lets a call under way end, and takes no new one', async () => {
    const { server, call, underWay, letGo, channel } = await holding();
    const answer = call();
    await underWay;
    let closed = false;
    const closing = closeRpcServer(server, 10_000).then(() => {
      closed = true;
    });

    const late = channel().clientOf(MaintenanceServiceService).purgeExpired({ limit: 1 }, { requestId: 'r' });
    expect((await refusalOf(late)).code).toBe(ErrorCode.UNAVAILABLE);
    expect(closed).toBe(false);
    letGo();
    await expect(answer).resolves.toEqual(ANSWER);
    await closing;
  });

  test('cuts what is still under way after the grace', async () => {
    const { server, call, underWay } = await holding();
    const answer = refusalOf(call());
    await underWay;
    await closeRpcServer(server, 50);
    expect((await answer).code).toBe(ErrorCode.UNAVAILABLE);
  });

  test('without calls does not wait for the grace, though a client is connected', async () => {
    const { server, call, letGo } = await holding();
    letGo();
    await call();
    await closeRpcServer(server, LONGER_THAN_A_TEST_MS);
  });

  test('frees its address', async () => {
    const options = {
      services: [],
      authenticate: () => ({ caller: 'edge' as const }),
      log: silent,
      timer: () => undefined,
      audit: unheardAudit,
    };
    const [port] = await freePorts(1);
    const first = createRpcServer(options);
    await first.listen(`127.0.0.1:${port}`);
    await closeRpcServer(first, 1_000);
    const second = createRpcServer(options);
    await expect(second.listen(`127.0.0.1:${port}`)).resolves.toBe(port);
    second.forceShutdown();
  });
});

const silent = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
