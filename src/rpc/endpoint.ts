import { status } from '@grpc/grpc-js';
import { grpcStatusOf } from '../../generated/proto/grpc-statuses.js';
import { WebhookServiceService } from '../../generated/proto/integration/webhooks/v1/webhooks.js';
import { personalAnswers } from '../../generated/proto/rights.js';
import { asServiceError, CallerLeft, ErrorCode, ServiceError } from '../errors/service-error.js';
import { AtOnce } from '../fairness/at-once.js';
import type { Log } from '../telemetry/log.js';
import type { RpcCallTimer } from '../telemetry/metrics.js';
import { inSpan, inSpanOfTrace } from '../telemetry/tracing.js';
import { type CallAudit, isWatched, readOf, refusalOf, searchOf, tokenIdOf } from './call-audit.js';
import { ownerOf, ROLE_RIGHTS } from './callers.js';
import type { AdmittedCall } from './gate.js';
import type { AnyMethod, CallContext, Handler } from './handlers.js';

/** Reads that the command line repeats every second. */
const POLLED: ReadonlySet<string> = new Set([WebhookServiceService.getSubscription.path]);

type Report = (method: string, call: AdmittedCall, code: string, error?: ServiceError) => void;

/** Logs and counts each call, refused or not. The line names the caller by the id of its token. */
export function reporter({ log, timer }: { log: Log; timer: RpcCallTimer }): Report {
  return (method, { requestId, startedAt, identity, peer, onBehalfOf }, code, error) => {
    const reason = error?.code === ErrorCode.UNAVAILABLE ? (error.internal ?? error.message) : undefined;
    if (error && isFault(error)) {
      const stack = error.cause instanceof Error ? error.cause.stack : undefined;
      log.error('call failed', { requestId, method, internal: error.internal ?? error.message, stack });
    }
    const durationMs = performance.now() - startedAt;
    timer(method.slice(1), code, durationMs);
    const caller = identity?.caller;
    const isRoutine = code === 'OK' && POLLED.has(method);
    const level = caller && !ROLE_RIGHTS.has(caller) && !isRoutine ? 'info' : 'debug';
    const shown = Math.round(durationMs * 10) / 10;
    const who = { caller, tokenId: tokenIdOf(identity, error), peer, onBehalfOf };
    log[level]('call', { requestId, method, ...who, code, reason, durationMs: shown });
  };
}

/** On our side. An UNAVAILABLE that has nothing for the log is a refusal for load, which metrics count. */
function isFault({ code, cause, internal }: ServiceError): boolean {
  const isKnown = cause !== undefined || internal !== undefined;
  return code === ErrorCode.INTERNAL_ERROR || (code === ErrorCode.UNAVAILABLE && isKnown);
}

export function statusNameOf(error: ServiceError): string {
  return status[grpcStatusOf[error.code]] ?? 'UNKNOWN';
}

/** A method with its handler. Serves gRPC calls and calls in a stream alike. */
export class Endpoint {
  constructor(
    readonly method: AnyMethod,
    readonly handler: Handler<AnyMethod>,
    private readonly audit: CallAudit,
    private readonly report: Report,
  ) {}

  /** The one answer to one message. */
  answer(request: unknown, context: CallContext): Promise<Buffer> {
    return this.traced(context, () => this.#answer(request, context));
  }

  /** In a span of the caller's trace, if it names one. Other calls of roles get no span: most are polls. */
  traced<T>({ identity, requestId, traceparent }: CallContext, work: () => Promise<T>): Promise<T> {
    const attributes = { 'rpc.system': 'grpc', 'integration.request_id': requestId };
    const inTrace = ROLE_RIGHTS.has(identity.caller) ? inSpanOfTrace : inSpan;
    return inTrace(this.method.path.slice(1), { kind: 'server', parent: traceparent, attributes }, work);
  }

  async #answer(request: unknown, context: CallContext): Promise<Buffer> {
    const found = await this.handler(request, context).catch((error: unknown) => {
      if (this.#isRecorded(context) && grpcStatusOf[asServiceError(error).code] === status.NOT_FOUND) {
        this.audit.observe(searchOf(this.method.path, request, context));
      }
      throw error;
    });
    await this.recordRead(request, context, found);
    return this.method.responseSerialize(found);
  }

  /** Before the answer: personal data is sent only after the read is recorded. */
  async recordRead(request: unknown, context: CallContext, found?: unknown): Promise<void> {
    if (this.#isRecorded(context)) {
      await this.audit.audit(readOf(this.method.path, request, found, context));
    }
  }

  #isRecorded({ identity }: CallContext): boolean {
    return personalAnswers.has(this.method.path) && isWatched(identity.caller);
  }

  ended(call: AdmittedCall, isCancelled: boolean, failure?: ServiceError): void {
    const { endedWith, operation } = call;
    const method = operation === undefined ? this.method.path : `${this.method.path}/${operation}`;
    const error = endedWith ?? (isCancelled && failure instanceof CallerLeft ? undefined : failure);
    const code = error ? statusNameOf(error) : isCancelled ? 'CANCELLED' : 'OK';
    this.report(method, call, code, error);
    // The gate ends calls whose token has become invalid.
    const refusal = error && refusalOf(this.method.path, call, error);
    if (refusal) {
      this.audit.observe(refusal);
    }
  }
}

const READ = /\/(?:Get|List)\w*$/;
/** As many calls as a token can have in progress. Calls whose callers have left also wait for their turn. */
const MOST_WAITING = 512;

/** For reads that wait for a server: an owner may have half of them. */
const BESIDE = { most: 4, perLane: 2 };
/** For reads that block the event loop. Two, because a search of a log gives others turns before it ends. */
const ALONE = { most: 2, perLane: 1 };

/**
 * Limits how many reads of service tokens run at once and begin in one turn of the event loop. Owners take
 * turns, and calls of edges and workers run in between. Writes have their own queues and share commits.
 */
export class ReadTurns {
  readonly #reads: AtOnce;

  constructor({ readsBlock = false } = {}) {
    const { most, perLane } = readsBlock ? ALONE : BESIDE;
    this.#reads = new AtOnce(most, { perLane });
  }

  /** The handler of a method, in turn if it is a read. */
  handlerOf(method: AnyMethod, handler: Handler<AnyMethod>): Handler<AnyMethod> {
    if (method.requestStream || method.responseStream || !READ.test(method.path)) {
      return handler;
    }
    return async (request, context) => {
      const owner = ownerOf(context.identity);
      if (owner === undefined) {
        return handler(request, context);
      }
      if (this.#reads.waitingIn(owner) >= MOST_WAITING) {
        const message = 'Too many reads of this token or its instance are waiting. Please try again shortly.';
        throw new ServiceError(ErrorCode.RATE_LIMITED, message);
      }
      const readInTurn = async () => {
        if (context.isCancelled) {
          throw new CallerLeft();
        }
        return handler(request, context);
      };
      return this.#reads.run(owner, readInTurn, () => true);
    };
  }
}
