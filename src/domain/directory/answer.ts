import { type ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { PresentedKey, Visitor } from '../access/gatekeeper.js';
import type { Page } from './page.js';

/** The versions of an answer that the caller already holds. */
export interface KnownVersions {
  values: readonly string[];
  any: boolean;
}

/** What a read gives: who asked, and content only when the caller does not hold its version yet. */
export interface Answer<T> {
  visitor: Visitor;
  /** Absent when not modified. */
  content: T | undefined;
}

/** The same for a list that may be long: its pages are fetched as they are read. */
export type ListAnswer<T> = Answer<AsyncIterable<Page<T>>>;

/** What every read is asked with. */
export interface Question extends PresentedKey {
  known: KnownVersions;
}

export function isKnown(version: string, known: KnownVersions): boolean {
  return known.any || known.values.includes(version);
}

/** The content, unless the caller's is still true; then nothing is read for it. */
export async function answer<T>(
  visitor: Visitor,
  { known }: Question,
  read: () => T | Promise<T>,
): Promise<Answer<T>> {
  return { visitor, content: isKnown(visitor.version, known) ? undefined : await read() };
}

/** The same for one thing of many: whether it exists is known without a read only to those who hold its present version. */
export async function answerOne<T>(
  visitor: Visitor,
  question: Question,
  read: () => Promise<T | undefined>,
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
