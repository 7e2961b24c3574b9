import type {
  ReadRequest,
  ReadRestResponse,
  RestOfList,
} from '../../../generated/proto/integration/directory/v1/directory.js';
import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { GatewayDependencies } from './gateway-handler.js';

type Directory = Pick<GatewayDependencies['directory'], 'readRest'>;

/** A domain that takes longer is slow, and not gone: to ask again would be more work for it. */
const GONE_WITHIN_MS = 5_000;

/** The token of a call may have been replaced since it began; the next one has the new token. */
const GONE: ReadonlySet<ErrorCode> = new Set([ErrorCode.UNAVAILABLE, ErrorCode.SERVICE_TOKEN_INVALID]);

/**
 * The pages of the rest of a list. If the domain that reads them is gone, they are asked for again, once,
 * after the last page that arrived; the channel chooses another domain where there is one.
 */
export class PagesOfRest implements AsyncIterator<ReadRestResponse> {
  readonly #endsAt: number;
  #pages: AsyncIterator<ReadRestResponse>;
  #isAskedAgain = false;
  #isLeft = false;

  constructor(
    private readonly directory: Directory,
    private readonly read: ReadRequest,
    /** Undefined in and after the last page. */
    private rest: RestOfList | undefined,
    private readonly call: Parameters<Directory['readRest']>[1] & { deadlineMs: number },
  ) {
    this.#endsAt = performance.now() + call.deadlineMs;
    this.#pages = this.#open();
  }

  async next(): Promise<IteratorResult<ReadRestResponse>> {
    const askedAt = performance.now();
    try {
      const page = await this.#pages.next();
      if (!page.done) {
        this.#isAskedAgain = false;
        this.rest = page.value.rest;
      }
      return page;
    } catch (error) {
      if (!this.#canGoOn(error, askedAt)) {
        throw error;
      }
      this.#isAskedAgain = true;
      this.#pages = this.#open();
      return this.next();
    }
  }

  /** Ends a pending read at once. */
  async return(): Promise<IteratorResult<ReadRestResponse>> {
    this.#isLeft = true;
    await this.#pages.return?.();
    return { done: true, value: undefined };
  }

  #canGoOn(error: unknown, askedAt: number): boolean {
    const isGone = error instanceof ServiceError && GONE.has(error.code);
    const mayAsk = this.rest !== undefined && !this.#isAskedAgain && !this.#isLeft;
    return isGone && mayAsk && performance.now() - askedAt < GONE_WITHIN_MS;
  }

  #open(): AsyncIterator<ReadRestResponse> {
    const { directory, read, rest, call } = this;
    const deadlineMs = Math.max(1, this.#endsAt - performance.now());
    return directory.readRest({ read, rest }, { ...call, deadlineMs })[Symbol.asyncIterator]();
  }
}
