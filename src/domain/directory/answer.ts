import { type ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { PresentedKey, Visitor } from '../access/gatekeeper.js';

/** The versions of an answer that the caller has. */
export interface KnownVersions {
  values: readonly string[];
  any: boolean;
}

/** The answer to a read: the caller, and content unless the caller has its version. */
export interface Answer<T> {
  visitor: Visitor;
  /** Absent when not modified. */
  content: T | undefined;
}

/** The input of every read. */
export interface Question extends PresentedKey {
  known: KnownVersions;
}

export function isKnown(version: string, known: KnownVersions): boolean {
  return known.any || known.values.includes(version);
}

/** The content, unless the caller has its version; then it is not read. */
export async function answer<T>(
  visitor: Visitor,
  { known }: Question,
  read: () => T | Promise<T>,
): Promise<Answer<T>> {
  return { visitor, content: isKnown(visitor.version, known) ? undefined : await read() };
}

/** The same for one resource. Without a read, only holders of its version learn that it exists. */
export async function answerOne<T>(
  visitor: Visitor,
  question: Question,
  read: () => T | undefined | Promise<T | undefined>,
  missing: { code: ErrorCode; message: string },
): Promise<Answer<T>> {
  if (question.known.values.includes(visitor.version)) {
    return { visitor, content: undefined };
  }
  const content = await read();
  if (content === undefined) {
    throw new ServiceError(missing.code, missing.message, { rateLimit: visitor.rateLimit });
  }
  return { visitor, content: question.known.any ? undefined : content };
}
