import { type Attributed, inNameOf, type UnitOfWork } from '../../domain/unit-of-work.js';
import { actorOf } from '../call-audit.js';
import type { AnyService, RequestOf, ResponseOf, Sent } from '../definitions.js';
import type { CallContext, Handlers } from '../handlers.js';

/** An answer without fields need not be returned. */
type Answer<Response> = keyof Response extends never ? Promise<void> : Promise<Sent<Response> & object>;

/** What writing methods do inside their transaction. */
export type Writes<S, Changes> = {
  readonly [Name in keyof S]?: (changes: Changes, request: RequestOf<S[Name]>) => Answer<ResponseOf<S[Name]>>;
};

/** Runs the work of a method in a transaction. */
type Run<S, Changes> = (
  name: keyof S,
  work: (changes: Changes) => Promise<object>,
  request: object,
  context: CallContext,
) => Promise<object>;

export function handlersOf<S extends AnyService, Changes>(
  writes: Writes<S, Changes>,
  run: Run<S, Changes>,
): Handlers<S> {
  const named = Object.entries(writes) as [keyof S, (changes: Changes, request: object) => Promise<object>][];
  return Object.fromEntries(
    named.map(([name, work]) => [
      name,
      (request: object, context: CallContext) =>
        run(name, async (changes) => (await work(changes, request)) ?? {}, request, context),
    ]),
  ) as unknown as Handlers<S>;
}

interface Writer<Changes, Rows> {
  unitOfWork: UnitOfWork<Changes, Rows>;
}

/** The unit of work, with the token as its actor. */
export function attributed<Changes, Rows>({ unitOfWork }: Writer<Changes, Rows>, context: CallContext) {
  return inNameOf(actorOf(context), unitOfWork, { signal: context.signal, requestId: context.requestId });
}

export function write<Changes, Rows, T>(
  writer: Writer<Changes, Rows>,
  context: CallContext,
  work: (changes: Changes & Attributed) => Promise<T>,
): Promise<T> {
  return attributed(writer, context).run(work);
}
