import { randomUUID } from 'node:crypto';
import { OperatorServiceService } from '../../../../generated/proto/integration/operator/v1/operator.js';
import { PlatformServiceService } from '../../../../generated/proto/integration/platform/v1/platform.js';
import { WebhookServiceService } from '../../../../generated/proto/integration/webhooks/v1/webhooks.js';
import { inJsonNames } from '../../../errors/json-names.js';
import { ServiceError } from '../../../errors/service-error.js';
import type { ServiceTokenKind } from '../../../identifiers/service-token.js';
import type { CallOptions } from '../../../rpc/call-metadata.js';
import { RpcChannel, type RpcClient } from '../../../rpc/client.js';
import type { AnyService } from '../../../rpc/handlers.js';
import { FailedCall } from '../errors.js';
import { print, say } from '../output/print.js';
import { asJson } from '../output/printable.js';
import { type Target, type TargetOptions, targetOf } from '../target.js';

const DEADLINE_MS = 30_000;

/** A client whose calls have common options; a call may override them. */
type SessionClient<S extends AnyService> = {
  readonly [Name in keyof RpcClient<S>]: RpcClient<S>[Name] extends (
    request: infer R,
    options: never,
  ) => infer A
    ? (request: R, options?: Partial<CallOptions>) => A
    : never;
};

export interface Session extends Pick<Target, 'address' | 'keyFile' | 'temporalUiUrl'> {
  operator: SessionClient<OperatorServiceService>;
  platform: SessionClient<PlatformServiceService>;
  webhooks: SessionClient<WebhookServiceService>;
}

/** An answer, for scripts and for people. */
export interface Shown {
  json: unknown;
  text: string;
  /** For people, beside the text and the JSON. */
  note?: string | undefined;
  /** Thrown after the answer is printed. */
  failure?: Error;
}

/** The options that several verbs have. */
export interface VerbOptions {
  client?: string;
  email?: string;
  event?: string;
  expectedVersion?: string;
  expires?: Date;
  instance?: string;
  instanceIntegration?: string;
  json?: boolean;
  limit?: number;
  name?: string;
  /** In seconds. */
  overlap?: number;
  since?: Date;
  subscription?: string;
  types?: string[];
  until?: Date;
  yes?: boolean;
}

/**
 * Returns the answer to print, or nothing if it has printed already. Runs only with all required arguments.
 */
export type Action<Options = object, Args = readonly [first: string, second: string]> = (
  session: Session,
  args: Args,
  options: VerbOptions & Options,
) => Promise<Shown | undefined>;

/** Runs an action over gRPC and prints its answer. */
export async function run(
  action: Action<never, never>,
  args: readonly unknown[],
  options: TargetOptions & VerbOptions,
  demoToken?: ServiceTokenKind,
): Promise<void> {
  const shown = await inSession(targetOf(options, demoToken), (session) =>
    action(session, args as never, options as never),
  );
  if (shown) {
    print(options.json ? asJson(shown.json) : shown.text);
  }
  if (shown?.note) {
    say(shown.note);
  }
  if (shown?.failure) {
    throw shown.failure;
  }
}

/** A refused call or a lost connection becomes a sentence for the caller. */
export async function inSession<T>(target: Target, work: (session: Session) => Promise<T>): Promise<T> {
  const { address, token, credentials, keyFile, temporalUiUrl } = target;
  const channel = new RpcChannel(address, token, { credentials });
  const call = { requestId: randomUUID(), deadlineMs: DEADLINE_MS };
  try {
    return await work({
      address,
      keyFile,
      operator: withOptions(channel.clientOf(OperatorServiceService), call),
      platform: withOptions(channel.clientOf(PlatformServiceService), call),
      webhooks: withOptions(channel.clientOf(WebhookServiceService), call),
      temporalUiUrl,
    });
  } catch (error) {
    throw error instanceof ServiceError ? new FailedCall(inJsonNames(error), address) : error;
  } finally {
    channel.close();
  }
}

function withOptions<S extends AnyService>(client: RpcClient<S>, common: CallOptions): SessionClient<S> {
  type Call = (request: unknown, options: Partial<CallOptions>) => unknown;
  const calls = Object.entries(client as object as Record<string, Call>).map(
    ([name, call]): [string, Call] => [name, (request, options) => call(request, { ...common, ...options })],
  );
  return Object.fromEntries(calls) as object as SessionClient<S>;
}
