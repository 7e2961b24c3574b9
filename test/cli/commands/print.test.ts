import { describe, expect, test } from '@jest/globals';
import { ErrorCode, ServiceError } from '../../../src/errors/service-error.js';
import { operatorService } from '../../../src/rpc/domain-server/operator/index.js';
import { rpcRigs } from '../../rpc/rig.js';
import { sharedIntegration } from '../typed.js';

/** Clears the screen and renames the window. */
const COMMANDS = '\u001b[2J\u001b]0;owned\u0007';
const SHOWN = '·[2J·]0;owned·';

describe('what the command says on stderr commands no terminal', () => {
  const rigs = rpcRigs();

  test('in the message with which a server refuses a call', async () => {
    const rig = await rigs.start([operatorService({} as never)], {
      address: '127.0.0.1:0',
      authenticate: () => {
        throw new ServiceError(ErrorCode.CALLER_NOT_ALLOWED, `${COMMANDS}Type your token again.`);
      },
    });
    const { code, stderr } = await sharedIntegration([
      ...['token', 'list', '--address', rig.address, '--token', 'any'],
    ]);
    expect([code, stderr]).toEqual([1, `${SHOWN}Type your token again. (caller_not_allowed)\n`]);
  });
});
