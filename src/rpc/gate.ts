import { constants, type ServerHttp2Stream } from 'node:http2';
import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
} from '@grpc/grpc-js';
import { asServiceError, ErrorCode, ServiceError } from '../errors/service-error.js';
import { AUTHORIZATION_KEY, bearerTokenOf, requestIdOf } from './call-metadata.js';
import type { Authenticate, Caller, Identity } from './callers.js';
import type { Connections } from './connections.js';
import { toStatus } from './error-trailer.js';
import { type TokenLimits, TokenShares } from './token-shares.js';

/** Who may call a method. */
export interface MethodRule {
  callers: readonly Caller[];
  /** Without a token too; one that is shown must still be good. */
  openToStrangers?: boolean;
}

/** A call that may go on. */
export interface AdmittedCall {
  readonly requestId: string;
  readonly startedAt: number;
  /** Undefined for a stranger. */
  readonly identity: Identity | undefined;
  /** What the gate ended the call with, if it did. */
  readonly endedWith: ServiceError | undefined;
  /** Ends the call at once, whatever its peer has not read yet. */
  end(error: ServiceError): void;
}

export interface RefusedCall {
  method: string;
  requestId: string;
  startedAt: number;
  /** The other end, as the system names it. */
  peer: string;
  /** Whose token it is, where it is one. */
  caller: Caller | undefined;
  tokenId: string | undefined;
  error: ServiceError;
}

export interface GateOptions {
  authenticate: Authenticate;
  onRefusal(call: RefusedCall): void;
  /** Told which connections have shown a valid token. */
  connections: Connections;
  tokens?: Partial<TokenLimits>;
  /** How long the message of a call may take to arrive. */
  arrivalMs?: number;
  /** How often the tokens of calls that stay open are looked at again. */
  recheckTokensMs?: number;
}

const ARRIVAL_MS = 10_000;
/** With the check itself well under the minute within which a revoked token must lose its open calls. */
const RECHECK_TOKENS_MS = 20_000;
/** How long an ended call may take to hand over what it has sent, its status included. */
const FLUSH_MS = 1_000;

/** What a token is refused with; any other failure says nothing about the token. */
export const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  ErrorCode.SERVICE_TOKEN_MISSING,
  ErrorCode.SERVICE_TOKEN_INVALID,
  ErrorCode.CALLER_NOT_ALLOWED,
]);

class Call implements AdmittedCall {
  readonly startedAt = performance.now();
  readonly requestId: string;
  identity: Identity | undefined;
  endedWith: ServiceError | undefined;
  over = false;
  arrival: NodeJS.Timeout | undefined;
  giveBack: () => void = () => undefined;

  constructor(
    readonly method: string,
    readonly metadata: Metadata,
    private readonly call: ServerInterceptingCallInterface,
  ) {
    this.requestId = requestIdOf(metadata);
  }

  get peer(): string {
    return this.call.getPeer();
  }

  /** Nothing was answered yet: the status is all, and what is still to come of the request is not taken. */
  refuse(error: ServiceError): void {
    this.call.sendStatus(toStatus(error));
    streamOf(this.call).close(constants.NGHTTP2_NO_ERROR);
  }

  end(error: ServiceError): void {
    if (!this.over && !this.endedWith) {
      this.endedWith = error;
      this.call.sendStatus(toStatus(error));
      const stream = streamOf(this.call);
      setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), FLUSH_MS).unref();
    }
  }
}

/**
 * Stands before every method: looks at token and right before a byte of the message is read, gives the message a time to arrive in, and ends a call that stays
 * open when its token is good no longer.
 */
export class Gate {
  readonly #rules = new Map<string, MethodRule>();
  readonly #admitted = new WeakMap<Metadata, Call>();
  readonly #open = new Set<Call>();
  readonly #shares: TokenShares;
  readonly #options: Required<Omit<GateOptions, 'tokens'>>;
  #recheck: NodeJS.Timeout | undefined;

  constructor({
    arrivalMs = ARRIVAL_MS,
    recheckTokensMs = RECHECK_TOKENS_MS,
    tokens,
    ...options
  }: GateOptions) {
    this.#options = { ...options, arrivalMs, recheckTokensMs };
    this.#shares = new TokenShares(tokens);
  }

  /** Opens a method; one that is not opened is refused to all. */
  rule(path: string, rule: MethodRule): void {
    this.#rules.set(path, rule);
  }

  /** The call whose metadata these are; a handler is reached by none that was not admitted. */
  callOf(metadata: Metadata): AdmittedCall {
    return this.#admitted.get(metadata) as AdmittedCall;
  }

  readonly interceptor: ServerInterceptor = ({ path, requestStream, responseStream }, call) => {
    const isLong = requestStream || responseStream;
    let entered: Call | undefined;
    return new ServerInterceptingCall(call, {
      start: (begin) =>
        begin({
          onReceiveMetadata: (metadata, pass) => {
            entered = new Call(path, metadata, call);
            void this.#enter(entered, isLong, requestStream, () => pass(metadata));
          },
          onReceiveHalfClose: (pass) => {
            if (!isLong) {
              entered?.giveBack();
            }
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
        call.giveBack = this.#shares.take(tokenId, isLong ? 'longCalls' : 'arrivingCalls');
      }
      this.#tellOf(call);
    } catch (thrown) {
      const error = asServiceError(thrown);
      // Another failure is ours, or says that the token is good.
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
    call.giveBack();
    clearTimeout(call.arrival);
    this.#open.delete(call);
  }

  #refuse(call: Call, error: ServiceError): void {
    call.refuse(error);
    const { method, requestId, startedAt, peer, identity } = call;
    const { caller, tokenId } = identity ?? {};
    this.#options.onRefusal({ method, requestId, startedAt, peer, caller, tokenId, error });
  }

  /** Authentication, then authorization. */
  async #admit(call: Call, authenticate: Authenticate): Promise<void> {
    const rule = this.#rules.get(call.method);
    if (rule?.openToStrangers && call.metadata.get(AUTHORIZATION_KEY).length === 0) {
      return;
    }
    call.identity = await authenticate(bearerTokenOf(call.metadata));
    if (!rule?.openToStrangers && !rule?.callers.includes(call.identity.caller)) {
      throw new ServiceError(ErrorCode.CALLER_NOT_ALLOWED, 'This token may not call this method.');
    }
  }

  #recheckLater(): NodeJS.Timeout {
    return setTimeout(async () => {
      await this.#recheckTokens();
      this.#recheck = this.#open.size > 0 ? this.#recheckLater() : undefined;
    }, this.#options.recheckTokensMs).unref();
  }

  /** One look at each token, however many calls it holds open. */
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

function tooSlow(): ServiceError {
  return new ServiceError(ErrorCode.INVALID_REQUEST, 'The request did not arrive in time.');
}

/**
 * grpc-js cannot reset a call: it waits for the peer to take what was written and to end what it sends, for ever if need be. Its own call, which stands
 * first in the chain, has the stream.
 */
function streamOf(call: ServerInterceptingCallInterface): ServerHttp2Stream {
  return (call as unknown as { stream: ServerHttp2Stream }).stream;
}
