import { decodeCursor, encodeCursor, unknownCursor } from '../../directory/page.js';
import { type Listing, pageLimit } from '../../platform/listing.js';
import { Violations } from '../../platform/violations.js';

/** A place in a log, ordered by time and then by insertion. */
export interface LogPosition {
  createdAt: number;
  seq: number;
}

/** Before everything. */
export const BEGINNING: LogPosition = { createdAt: 0, seq: 0 };

/** A page to read: rows after a position, up to a limit. */
export interface LogPageRequest {
  after: LogPosition | undefined;
  limit: number;
}

/** A page of a long log. It may be shorter than the limit although more follows, where few rows match. */
export interface LogPage<T> {
  rows: T[];
  /** Where the next page begins; undefined at the end. */
  next: LogPosition | undefined;
}

/** As `listPage` in `../../platform/listing.ts`, for logs. */
export async function logPage<T>(
  { pageSize, pageToken }: Listing,
  fetch: (page: LogPageRequest) => Promise<LogPage<T>>,
): Promise<{ rows: T[]; nextPageToken: string }> {
  const limit = pageLimit(pageSize);
  const after = pageToken === '' ? undefined : decodePosition(pageToken);
  const { rows, next } = await fetch({ after, limit });
  return { rows, nextPageToken: next ? encodePosition(next) : '' };
}

function encodePosition({ createdAt, seq }: LogPosition): string {
  return encodeCursor({ createdAt, id: String(seq) });
}

function decodePosition(pageToken: string): LogPosition {
  const { createdAt, id } = decodeCursor(pageToken, 'page_token');
  if (!/^\d{1,16}$/.test(id)) {
    throw unknownCursor('page_token');
  }
  return { createdAt, seq: Number(id) };
}

/** Filters of the logs: patterns of types as in `../event-patterns.ts`, and a span of time. */
export interface LogFilter {
  /** Empty means all. */
  eventTypes: readonly string[];
  since?: number;
  until?: number;
}

const PATTERN = /^(\*|[a-z_]+(\.[a-z_]+)*(\.\*)?)$/;
const MAX_PATTERNS = 50;

/** `typesPath` is the request's name for the patterns. */
export function logFilterViolations(
  { eventTypes, since, until }: LogFilter,
  typesPath = 'event_types',
): Violations {
  const violations = new Violations();
  const message = 'must be a type such as user.updated, a pattern such as user.*, or *';
  violations.items(typesPath, violations.listOfAtMost(MAX_PATTERNS, typesPath, eventTypes), (pattern) =>
    PATTERN.test(pattern) ? undefined : message,
  );
  violations.span(since, until);
  return violations;
}
