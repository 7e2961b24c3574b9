import { DirectoryServiceService } from '../../../generated/proto/integration/directory/v1/directory.js';
import { ListSlots, type ReleaseSlot } from '../../domain/access/list-slots.js';
import { changedInstances } from '../../domain/directory/changed-instances.js';
import { type JsonOf, jsonArray } from '../../domain/directory/contract-json.js';
import { PAGE_BYTES, type Rest, restAfter } from '../../domain/directory/page.js';
import {
  type Answer,
  type AnyPages,
  type AnyRead,
  type DirectoryDependencies,
  directoryReads,
  type Target,
} from '../../domain/directory/reads.js';
import { CallerLeft, ErrorCode, ServiceError } from '../../errors/service-error.js';
import { serve } from '../handlers.js';
import { PageTurns } from '../streams/page-turns.js';
import { type Ask, earlierMethods, headerOf } from './earlier-directory.js';

/** A list of so few rows is no more work than any short call, and needs no turn of its own. */
const FEW_ROWS = 10;

/** A larger resource is streamed. Half of what a message may have, so that all others stay one call. */
const MOST_IN_ONE_MESSAGE = 8 * 1_024 * 1_024;
/** Each is in memory as a whole until its reader has taken it; an organization structure has up to 80 MiB. */
const LARGE_RESOURCES = { perIntegration: 2, inTotal: 8 };

export function directoryService(dependencies: DirectoryDependencies, turns = new PageTurns()) {
  const { gatekeeper, closing } = dependencies;
  const largeResources = new ListSlots(LARGE_RESOURCES, 'organization structures');
  const reads: Record<string, AnyRead> = directoryReads(dependencies);
  const ask: Ask = (operationId, context, target) => {
    const read = Object.hasOwn(reads, operationId) ? reads[operationId] : undefined;
    if (!read) {
      throw new ServiceError(ErrorCode.NOT_IMPLEMENTED, 'This domain does not have this operation.');
    }
    if (!context) {
      throw new ServiceError(ErrorCode.INVALID_REQUEST, 'The context is missing.');
    }
    return read(context, target as Target);
  };
  return serve(DirectoryServiceService, {
    ...earlierMethods(
      ask,
      (answer, signal) => pagesOf({ lists: gatekeeper.lists, turns, answer, signal }),
      () => turns.shortCall(),
    ),

    read: async ({ context, operationId, isCounted, ...target }, call) => {
      let release: ReleaseSlot | undefined;
      let rest: Rest | undefined;
      try {
        const isOver = () => call.isCancelled;
        const asked = ask(operationId, context && { ...context, isCounted, isOver }, target);
        call.operation = operationId;
        const answer = await asked;
        const { visitor, content } = answer;
        const header = headerOf(answer);
        if (content === undefined || typeof content === 'string') {
          const body = Buffer.from(content ?? '');
          return body.length > MOST_IN_ONE_MESSAGE
            ? { header, body: Buffer.alloc(0), rest: { cursor: '' } }
            : { header, body };
        }
        // Before anything is awaited, so that an excess list is refused at once.
        release = gatekeeper.lists.hold(visitor);
        const page = await turns.make(
          { integrationId: visitor.integrationId, canWait: false },
          async () => {
            if (call.isCancelled) {
              throw new CallerLeft();
            }
            return (await content[Symbol.asyncIterator]().next()).value;
          },
          ({ rows, isLast }) => isLast && rows.length <= FEW_ROWS,
        );
        rest = restAfter(page, target.limit);
        if (rest) {
          gatekeeper.lists.leave(visitor);
        }
        return { header, body: bodyOf(page.rows), nextCursor: page.nextCursor, rest };
      } finally {
        release?.();
        if (!rest) {
          turns.shortCall();
        }
      }
    },

    readRest: async function* ({ read, rest }, { signal }) {
      const { context, operationId = '', ...path } = read ?? {};
      const whole = {
        knownVersions: [],
        anyVersionKnown: false,
        isCounted: true,
        isOver: () => signal.aborted,
      };
      const target = { ...path, limit: rest?.limit, cursor: rest?.cursor, isRest: true };
      const answer = await ask(operationId, context && { ...context, ...whole }, target);
      if (typeof answer.content === 'string') {
        for (const body of piecesOf(largeResources, answer as Answer<string>, signal)) {
          yield { body };
        }
        return;
      }
      let left = rest?.limit;
      const list = { lists: gatekeeper.lists, turns, answer, signal, isRest: true };
      for await (const page of pagesOf(list)) {
        const after = restAfter(page, left);
        left = after?.limit;
        yield { body: bodyOf(page.rows), nextCursor: page.nextCursor, rest: after };
      }
    },

    watchChanges: async function* (_, { signal }) {
      const until = closing ? AbortSignal.any([signal, closing]) : signal;
      for await (const instanceIds of changedInstances(dependencies.changes, until)) {
        yield { instanceIds };
      }
    },
  });
}

function bodyOf(rows: readonly { json: string }[]): Buffer {
  return Buffer.from(jsonArray(rows.map(({ json }) => json as JsonOf<unknown>)));
}

/** A resource in pieces. It counts until its call ends, when the peer has taken it. */
function* piecesOf(slots: ListSlots, { visitor, content = '' }: Answer<string>, signal: AbortSignal) {
  const release = slots.hold(visitor);
  if (signal.aborted) {
    release();
    return;
  }
  signal.addEventListener('abort', release, { once: true });
  const body = Buffer.from(content);
  for (let from = 0; from < body.length; from += PAGE_BYTES) {
    yield body.subarray(from, from + PAGE_BYTES);
  }
}

interface ListUnderWay {
  lists: ListSlots;
  turns: PageTurns;
  answer: Answer<string | AnyPages>;
  signal: AbortSignal;
  isRest?: boolean;
}

/** The pages of a list. It counts until its call ends, when the peer has taken it. */
async function* pagesOf({ lists, turns, answer, signal, isRest = false }: ListUnderWay) {
  const { visitor, content } = answer;
  if (content === undefined || typeof content === 'string') {
    return;
  }
  // Before anything is awaited, so that an excess list is refused at once.
  if (isRest) {
    lists.takeOver(visitor);
  }
  const release = lists.hold(visitor);
  if (signal.aborted) {
    release();
    return;
  }
  signal.addEventListener('abort', release, { once: true });
  const pages = content[Symbol.asyncIterator]();
  const { integrationId } = visitor;
  const next = async () => (signal.aborted ? undefined : await pages.next());
  const canWait = () => lists.areMany(integrationId);
  let page = await turns.make({ integrationId, canWait: isRest && canWait() }, next);
  while (page && !page.done) {
    yield page.value;
    page = page.value.isLast ? undefined : await turns.make({ integrationId, canWait: canWait() }, next);
  }
}
