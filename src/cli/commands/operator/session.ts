import { randomUUID } from 'node:crypto';
import { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import { PlatformServiceService } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { ServiceError } from '../../../errors/service-error.js';
import { type CallOptions, RpcChannel, type RpcClient } from '../../../rpc/client.js';
import { FailedCall } from '../failed-call.js';
import { print } from '../print.js';
import { type TargetOptions, targetOf } from '../target.js';

const DEADLINE_MS = 30_000;

/** What an action works with. */
export interface Session {
  operator: RpcClient<OperatorServiceService>;
  platform: RpcClient<PlatformServiceService>;
  call: CallOptions;
}

/** An answer, for scripts and for people. */
export interface Shown {
  json: unknown;
  text: string;
}

export type Action = (session: Session, args: readonly string[], options: never) => Promise<Shown>;

export type CommandOptions = TargetOptions & { json?: boolean };

/** Runs an action over gRPC and prints its answer. */
export async function run(action: Action, args: readonly string[], options: CommandOptions): Promise<void> {
  const { address, token, credentials } = targetOf(options);
  const channel = new RpcChannel(address, token, credentials);
  const session: Session = {
    operator: channel.clientOf(OperatorServiceService),
    platform: channel.clientOf(PlatformServiceService),
    call: { requestId: randomUUID(), deadlineMs: DEADLINE_MS },
  };
  try {
    const { json, text } = await action(session, args, options as never);
    print(options.json ? JSON.stringify(json, null, 2) : text);
  } catch (error) {
    throw error instanceof ServiceError ? new FailedCall(error, address) : error;
  } finally {
    channel.close();
  }
}
