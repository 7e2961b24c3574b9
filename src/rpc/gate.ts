import { constants, type ServerHttp2Stream } from 'node:http2';
import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
} from '@grpc/grpc-js';
import { asServiceError, ErrorCode, ServiceError } from '../errors/service-error.js';
import { OwnerSlots } from '../fairness/owner-slots.js';
import {
  AUTHORIZATION_KEY,
  bearerTokenOf,
  loggableOnBehalfOf,
  loggableRequestId,
  ON_BEHALF_OF_KEY,
  REQUEST_ID_KEY,
} from './call-metadata.js';
import { type Authenticate, type Caller, type Identity, ownerOf } from './callers.js';
import type { Connections } from './connections.js';
import { failureOf, toStatus } from './error-trailer.js';

/** The rights that may call a method. */
export interface MethodRule {
  callers: readonly Caller[];
  /** Whether tokens of one instance may call it. */
  isWithinInstance?: boolean;
  /** Callable without a token; a token that is sent must still be valid. */
  openToStrangers?: boolean;
}

export interface AdmittedCall {
  /** One of several that the method serves. */
  readonly operation?: string;
  readonly requestId: string;
  readonly startedAt: number;
  readonly peer: string;
  /** The person or system for which the caller acts, if it can be recorded. */
  readonly onBehalfOf: string | undefined;
  /** Undefined without a token. */
  readonly identity: Identity | undefined;
  /** The error with which the gate ended the call. */
  readonly endedWith: ServiceError | undefined;
}

/** A gRPC call, in contrast to a call in a stream of calls. */
export interface AdmittedStream extends AdmittedCall {
  /** Ends the call at once, without waiting for its peer to read. */
  end(error: ServiceError): void;
}

/** A call that ended with this error; its identity is the holder of the token, if that is valid. */
type OnRefusal = (method: string, call: AdmittedCall, error: ServiceError) => void;

export interface GateOptions {
  authenticate: Authenticate;
  onRefusal: OnRefusal;
  /** Learns which connections have used a valid token. */
  connections: Connections;
  tokens?: Partial<typeof TOKEN_LIMITS>;
  /** How long the message of a call may take to arrive. */
  arrivalMs?: number;
  /** How often the tokens of long-lived calls are checked again. */
  recheckTokensMs?: number;
}

/** Of each token, so that none takes the memory of others. */
const TOKEN_LIMITS = {
  /** Long-lived calls: each may hold some messages in memory while it is open. */
  longCalls: 32,
  /** Other calls, until they end: twice as many as one connection may have. */
  calls: 512,
  /** Large answers, until their peers have read them: of an instance or a line of successors together. */
  unreadBytes: 64 * 1_024 * 1_024,
};
/** Not counted, and so never refused: answers to changes, which show new secrets once. */
const SMALL_ANSWER_BYTES = 64 * 1_024;
/** Each piece keeps all that Node read with it, up to 64 KiB. In full frames, a message has 17. */
const MOST_PIECES = 64;

const ARRIVAL_MS = 10_000;
/** A revoked token must lose its open calls within a minute, including the time of the check. */
const RECHECK_TOKENS_MS = 20_000;
/** How long an ended call may take to deliver what was sent, its status included. */
const FLUSH_MS = 1_000;

/** Errors that refuse a token; other failures say nothing about it. */
export const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  ErrorCode.SERVICE_TOKEN_MISSING,
  ErrorCode.SERVICE_TOKEN_INVALID,
  ErrorCode.CALLER_NOT_ALLOWED,
]);

const UNKNOWN_METHOD = '/unknown';

/** What grpc-js does not show of a call. */
interface GrpcCall extends ServerInterceptingCallInterface {
  listener: object | null;
  /** It can be reset: grpc-js itself would wait for the peer without limit. */
  stream: ServerHttp2Stream;
  incomingEncoding: string;
  decoder: { readPartialMessage: Buffer[] };
  readQueue: unknown[];
}

class Call implements AdmittedStream {
  readonly startedAt = performance.now();
  readonly requestId: string;
  readonly onBehalfOf: string | undefined;
  /** Read at the beginning: a connection that has closed has no address. */
  readonly peer: string;
  identity: Identity | undefined;
  endedWith: ServiceError | undefined;
  over = false;
  arrival: NodeJS.Timeout | undefined;
  giveBack: () => void = () => undefined;

  constructor(
    readonly method: string,
    readonly metadata: Metadata,
    private readonly call: GrpcCall,
  ) {
    this.requestId = loggableRequestId(metadata.get(REQUEST_ID_KEY)[0]);
    this.onBehalfOf = loggableOnBehalfOf(metadata.get(ON_BEHALF_OF_KEY));
    this.peer = call.getPeer();
  }

  /** Before a message is read, so that it takes little more memory than its bytes. */
  boundMessages(): void {
    const { stream, incomingEncoding } = this.call;
    // grpc-js inflates all messages of a frame at once, which can be hundreds.
    if (incomingEncoding !== 'identity') {
      const message = 'This server reads no compressed messages. Please send them uncompressed.';
      throw new ServiceError(ErrorCode.NOT_IMPLEMENTED, message);
    }
    // grpc-js keeps the pieces of a message until the message is whole.
    stream.on('data', () => {
      const { decoder } = this.call;
      if (decoder.readPartialMessage.length > MOST_PIECES) {
        decoder.readPartialMessage = [Buffer.concat(decoder.readPartialMessage)];
      }
    });
  }

  /** Once it is over: grpc-js reads no more, and its peer may keep the stream open. */
  dropMessages(): void {
    // It would keep a whole message until the peer ends its side.
    this.call.listener = null;
    this.call.decoder = { readPartialMessage: [] };
    this.call.readQueue.length = 0;
  }

  /** Sends a status only, and discards the rest of the request. */
  refuse(error: ServiceError): void {
    this.call.sendStatus(toStatus(error));
    this.call.stream.close(constants.NGHTTP2_NO_ERROR);
  }

  end(error: ServiceError): void {
    if (!this.over && !this.endedWith) {
      this.endedWith = error;
      this.call.sendStatus(toStatus(error));
      const { stream } = this.call;
      setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), FLUSH_MS).unref();
    }
  }
}

/** Precedes every method: checks token and right before it reads the message, and limits its arrival. */
export class Gate {
  readonly #rules = new Map<string, MethodRule>();
  readonly #admitted = new WeakMap<Metadata, Call>();
  readonly #open = new Set<Call>();
  readonly #slots: Record<keyof typeof TOKEN_LIMITS, OwnerSlots>;
  readonly #options: Required<Omit<GateOptions, 'tokens'>>;
  #recheck: NodeJS.Timeout | undefined;

  constructor({
    arrivalMs = ARRIVAL_MS,
    recheckTokensMs = RECHECK_TOKENS_MS,
    tokens,
    ...options
  }: GateOptions) {
    this.#options = { ...options, arrivalMs, recheckTokensMs };
    const { longCalls, calls, unreadBytes } = { ...TOKEN_LIMITS, ...tokens };
    this.#slots = {
      longCalls: new OwnerSlots({ perOwner: longCalls }),
      calls: new OwnerSlots({ perOwner: calls }),
      unreadBytes: new OwnerSlots({ perOwner: unreadBytes, inTotal: 4 * unreadBytes }),
    };
  }

  /** Opens a method; others are refused. */
  rule(path: string, rule: MethodRule): void {
    this.#rules.set(path, rule);
  }

  /** The admitted call with these metadata. Handlers run for admitted calls only. */
  callOf(metadata: Metadata): AdmittedStream {
    return this.#admitted.get(metadata) as AdmittedStream;
  }

  /** Counts a large answer until its call is over: HTTP/2 keeps it until its peer reads it. */
  countAnswer(metadata: Metadata, { length }: Buffer): void {
    const call = this.#admitted.get(metadata) as Call;
    const owner = call.identity && ownerOf(call.identity);
    if (owner === undefined || call.over || length <= SMALL_ANSWER_BYTES) {
      return;
    }
    const { unreadBytes } = this.#slots;
    if (!unreadBytes.take(owner, length)) {
      const message = 'Earlier answers have not been read yet.';
      throw new ServiceError(ErrorCode.UNAVAILABLE, message, { retryAfterSeconds: 1 });
    }
    const { giveBack } = call;
    call.giveBack = () => {
      giveBack();
      unreadBytes.give(owner, length);
    };
  }

  /** Admits a call in an admitted stream, whose token was checked there, by the rights of its own method. */
  admitInStream(method: string, call: AdmittedCall): void {
    try {
      this.#assertAllowed(method, call.identity);
    } catch (thrown) {
      // Any other name is a text of the peer, which would make a metric of its own.
      const known = this.#rules.has(method) ? method : UNKNOWN_METHOD;
      this.#options.onRefusal(known, call, asServiceError(thrown));
      throw thrown;
    }
  }

  readonly interceptor: ServerInterceptor = ({ path, requestStream, responseStream }, call) => {
    const isLong = requestStream || responseStream;
    let entered: Call | undefined;
    return new ServerInterceptingCall(call, {
      start: (begin) =>
        begin({
          onReceiveMetadata: (metadata, pass) => {
            entered = new Call(path, metadata, call as GrpcCall);
            void this.#enter(entered, isLong, requestStream, () => pass(metadata));
          },
          onReceiveHalfClose: (pass) => {
            clearTimeout(entered?.arrival);
            pass();
          },
          onCancel: () => entered && this.#leave(entered),
        }),
    });
  };

  async #enter(call: Call, isLong: boolean, hasManyMessages: boolean, pass: () => void): Promise<void> {
    try {
      await this.#admit(call, this.#options.authenticate);
      const tokenId = call.identity?.tokenId;
      if (tokenId !== undefined && !call.over) {
        const slots = this.#slots[isLong ? 'longCalls' : 'calls'];
        if (!slots.take(tokenId)) {
          const message =
            'Too many calls with this token are open at once. Please try again once some have ended.';
          throw new ServiceError(ErrorCode.RATE_LIMITED, message, { retryAfterSeconds: 1 });
        }
        call.giveBack = () => slots.give(tokenId);
      }
      this.#tellOf(call);
      call.boundMessages();
    } catch (thrown) {
      const error = failureOf(thrown);
      // Other failures are ours: they do not show that the connection has no valid token.
      if (REFUSALS.has(error.code)) {
        this.#tellOf(call);
      }
      this.#refuse(call, error);
      return;
    }
    if (call.over) {
      return;
    }
    this.#admitted.set(call.metadata, call);
    if (!hasManyMessages) {
      call.arrival = setTimeout(() => this.#refuse(call, tooSlow()), this.#options.arrivalMs);
    }
    if (isLong) {
      this.#open.add(call);
      this.#recheck ??= this.#recheckLater();
    }
    pass();
  }

  #tellOf({ identity, peer }: Call): void {
    const { connections } = this.#options;
    if (identity) {
      connections.proven(peer, identity.tokenId);
    } else {
      connections.unproven(peer);
    }
  }

  #leave(call: Call): void {
    call.over = true;
    call.dropMessages();
    call.giveBack();
    clearTimeout(call.arrival);
    this.#open.delete(call);
  }

  #refuse(call: Call, error: ServiceError): void {
    call.refuse(error);
    this.#options.onRefusal(call.method, call, error);
  }

  /** Authentication, then authorization. */
  async #admit(call: Call, authenticate: Authenticate): Promise<void> {
    const rule = this.#rules.get(call.method);
    if (rule?.openToStrangers && call.metadata.get(AUTHORIZATION_KEY).length === 0) {
      return;
    }
    call.identity = await authenticate(bearerTokenOf(call.metadata));
    if (!rule?.openToStrangers) {
      this.#assertAllowed(call.method, call.identity);
    }
  }

  #assertAllowed(method: string, identity: Identity | undefined): void {
    const rule = this.#rules.get(method);
    if (!identity || !rule?.callers.includes(identity.caller)) {
      throw new ServiceError(ErrorCode.CALLER_NOT_ALLOWED, refusalOf(rule, identity));
    }
    if (identity.instanceId !== undefined && !rule.isWithinInstance) {
      const message = 'This token is limited to one instance, and this method is not.';
      throw new ServiceError(ErrorCode.CALLER_NOT_ALLOWED, message);
    }
  }

  #recheckLater(): NodeJS.Timeout {
    return setTimeout(async () => {
      await this.#recheckTokens();
      this.#recheck = this.#open.size > 0 ? this.#recheckLater() : undefined;
    }, this.#options.recheckTokensMs).unref();
  }

  /** Checks each token once, for all its calls. */
  async #recheckTokens(): Promise<void> {
    const looks = new Map<string, ReturnType<Authenticate>>();
    const authenticate: Authenticate = (token) => {
      const look = looks.get(token) ?? this.#options.authenticate(token);
      looks.set(token, look);
      return look;
    };
    const endIfRefused = async (call: Call) => {
      try {
        await this.#admit(call, authenticate);
      } catch (thrown) {
        const error = asServiceError(thrown);
        if (REFUSALS.has(error.code)) {
          call.end(error);
        }
      }
    };
    await Promise.all([...this.#open].map(endIfRefused));
  }
}

/** Rights are named to the holder of a valid token only, and those of methods that are served here. */
function refusalOf(rule: MethodRule | undefined, identity: Identity | undefined): string {
  return rule && identity
    ? `This method needs a token with the right ${rule.callers.join(' or ')}; this one has the right ${identity.caller}.`
    : 'This token may not call this method.';
}

function tooSlow(): ServiceError {
  return new ServiceError(ErrorCode.INVALID_REQUEST, 'The request did not arrive in time.');
}
