import { type Attributed, inNameOf, type UnitOfWork } from '../../domain/unit-of-work.js';
import { actorOf } from '../call-audit.js';
import type { AnyService, CallContext, Handlers, RequestOf, ResponseOf, Sent } from '../handlers.js';

/** An answer without fields need not be returned. */
type Answer<Response> = keyof Response extends never ? Promise<void> : Promise<Sent<Response> & object>;

/** What writing methods do inside their transaction. */
export type Writes<S, Changes> = {
  readonly [Name in keyof S]?: (changes: Changes, request: RequestOf<S[Name]>) => Answer<ResponseOf<S[Name]>>;
};

/** Runs the work of a method in a transaction. */
type Run<S, Changes, Call extends unknown[]> = (
  name: keyof S,
  work: (changes: Changes) => Promise<object>,
  request: object,
  ...call: Call
) => Promise<object>;

export function handlersOf<S extends AnyService, Changes, Call extends unknown[] = [context: CallContext]>(
  writes: Writes<S, Changes>,
  run: Run<S, Changes, Call>,
): Handlers<S, Call> {
  const named = Object.entries(writes) as [keyof S, (changes: Changes, request: object) => Promise<object>][];
  return Object.fromEntries(
    named.map(([name, work]) => [
      name,
      (request: object, ...call: Call) =>
        run(name, async (changes) => (await work(changes, request)) ?? {}, request, ...call),
    ]),
  ) as unknown as Handlers<S, Call>;
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
