import { DirectoryServiceService } from '../../../generated/proto/integration/directory/v1/directory.js';
import type { Visitor } from '../../domain/access/gatekeeper.js';
import { ListSlots, type ReleaseSlot } from '../../domain/access/list-slots.js';
import { changedInstances } from '../../domain/directory/changed-instances.js';
import { type JsonOf, jsonArray } from '../../domain/directory/contract-json.js';
import { PAGE_BYTES, type Rest, restAfter } from '../../domain/directory/page.js';
import {
  type AnyPages,
  type AnyRead,
  type DirectoryDependencies,
  directoryReads,
  LEFT_TO_REST,
  type Question,
  type Target,
} from '../../domain/directory/reads.js';
import { CallerLeft, ErrorCode, ServiceError } from '../../errors/service-error.js';
import { serve } from '../handlers.js';
import { PageTurns } from '../message-streams.js';

/** A list of so few rows is no more work than any short call, and needs no turn of its own. */
const FEW_ROWS = 10;

/** A larger resource is streamed. Half of what a message may have, so that all others stay one call. */
const MOST_IN_ONE_MESSAGE = 8 * 1_024 * 1_024;
/** Each is in memory as a whole until its reader has received it. A structure has up to 110 MiB. */
const LARGE_RESOURCES = { perIntegration: 2, inTotal: 6 };
/** Large resources beyond this number are not remembered: each answer reads them twice. */
const MOST_KNOWN = 10_000;

export function directoryService(dependencies: DirectoryDependencies, turns = new PageTurns()) {
  const { gatekeeper, closing } = dependencies;
  const largeResources = new ListSlots(LARGE_RESOURCES, 'organization structures');
  /** Those that were large when they were read last. They are read for the rest of an answer only. */
  const knownLarge = new Set<string>();
  const noteSize = (name: string, bytes: number): boolean => {
    const isLarge = bytes > MOST_IN_ONE_MESSAGE;
    knownLarge.delete(name);
    if (isLarge && knownLarge.size < MOST_KNOWN) {
      knownLarge.add(name);
    }
    return isLarge;
  };
  const reads: Record<string, AnyRead> = directoryReads(dependencies);
  /** Reads an operation by its id: a newer edge may know more of them. */
  const ask = (operationId: string, question: Question | undefined, target: object) => {
    const read = Object.hasOwn(reads, operationId) ? reads[operationId] : undefined;
    if (!read) {
      throw new ServiceError(ErrorCode.NOT_IMPLEMENTED, 'This domain does not have this operation.');
    }
    if (!question) {
      throw new ServiceError(ErrorCode.INVALID_REQUEST, 'The context is missing.');
    }
    return read(question, target as Target);
  };
  return serve(DirectoryServiceService, {
    read: async ({ context, operationId, isCounted, ...target }, call) => {
      let release: ReleaseSlot | undefined;
      let rest: Rest | undefined;
      try {
        const name = nameOf(operationId, target);
        const hooks = {
          isOver: () => call.isCancelled,
          beforeWhole: () => (knownLarge.has(name) ? LEFT_TO_REST : undefined),
        };
        const asked = ask(operationId, context && { ...context, isCounted, ...hooks }, target);
        call.operation = operationId;
        const { visitor, content } = await asked;
        const header = { ...visitor, notModified: content === undefined };
        if (content === undefined) {
          return { header, body: Buffer.alloc(0) };
        }
        if (typeof content === 'string') {
          return content === LEFT_TO_REST || noteSize(name, Buffer.byteLength(content))
            ? { header, body: Buffer.alloc(0), rest: { cursor: '' } }
            : { header, body: Buffer.from(content) };
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
        return { header, body: bodyOf(page.rows), nextCursor: rest ? undefined : page.nextCursor, rest };
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
        // Before the read, so that an excess one costs nothing.
        beforeWhole: (visitor: Visitor) => void holdUntilEnd(largeResources, visitor, signal),
      };
      const target = { ...path, limit: rest?.limit, cursor: rest?.cursor, isRest: true };
      const asking = () => ask(operationId, context && { ...context, ...whole }, target);
      const { visitor, content } = await inBytes(asking);
      if (Buffer.isBuffer(content)) {
        noteSize(nameOf(operationId, path), content.length);
        for (const body of piecesOf(content, signal)) {
          yield { body };
        }
        return;
      }
      let left = rest?.limit;
      for await (const page of pagesOf({ lists: gatekeeper.lists, turns, visitor, content, signal })) {
        const after = restAfter(page, left);
        left = after?.limit;
        yield { body: bodyOf(page.rows), nextCursor: after ? undefined : page.nextCursor, rest: after };
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

function nameOf(operationId: string, { clientId }: { clientId?: string }): string {
  return `${operationId} ${clientId}`;
}

function bodyOf(rows: readonly { json: string }[]): Buffer {
  return Buffer.from(jsonArray(rows.map(({ json }) => json as JsonOf<unknown>)));
}

/** Holds a slot until the call ends, when the peer has taken its messages. */
function holdUntilEnd(slots: ListSlots, visitor: Visitor, signal: AbortSignal): void {
  const release = slots.hold(visitor);
  if (signal.aborted) {
    release();
  } else {
    signal.addEventListener('abort', release, { once: true });
  }
}

/** Not in the generator, which would keep the text beside its bytes until the reader has them all. */
async function inBytes(
  asking: () => ReturnType<AnyRead>,
): Promise<{ visitor: Visitor; content: Buffer | AnyPages }> {
  const { visitor, content = '' } = await asking();
  return { visitor, content: typeof content === 'string' ? Buffer.from(content) : content };
}

function* piecesOf(body: Buffer, signal: AbortSignal) {
  for (let from = 0; from < body.length && !signal.aborted; from += PAGE_BYTES) {
    yield body.subarray(from, from + PAGE_BYTES);
  }
}

interface ListUnderWay {
  lists: ListSlots;
  turns: PageTurns;
  visitor: Visitor;
  content: AnyPages;
  signal: AbortSignal;
}

async function* pagesOf({ lists, turns, visitor, content, signal }: ListUnderWay): AnyPages {
  // Before anything is awaited, so that an excess list is refused at once.
  lists.takeOver(visitor);
  holdUntilEnd(lists, visitor, signal);
  const { integrationId } = visitor;
  const pages = content[Symbol.asyncIterator]();
  const next = async () => (signal.aborted ? undefined : await pages.next());
  for (;;) {
    const page = await turns.make({ integrationId, canWait: lists.areMany(integrationId) }, next);
    if (!page || page.done) {
      return;
    }
    yield page.value;
    if (page.value.isLast) {
      return;
    }
  }
}
