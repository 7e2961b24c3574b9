import { createHash } from 'node:crypto';

/** The entity tags of an If-None-Match header, of weak ones without their mark. */
function tagsIn(ifNoneMatch: string): string[] {
  return ifNoneMatch.match(/"[^"]*"/g) ?? [];
}

/** Whether the client holds one of the representations with these entity tags. */
export function isHeld(ifNoneMatch = '', tags: readonly string[]): boolean {
  return ifNoneMatch.trim() === '*' || tagsIn(ifNoneMatch).some((tag) => tags.includes(tag));
}

const SALT_LENGTH = 12;

/** A strong entity tag: a salt of operation, address and contract, and the version of the data. */
export class EntityTags {
  constructor(private readonly contractHash: string) {}

  /** Distinguishes operation and address. */
  saltOf(operationId: string, address: string): string {
    const question = `${this.contractHash}\n${operationId}\n${address}`;
    return createHash('sha256').update(question).digest('base64url').slice(0, SALT_LENGTH);
  }

  tagOf(salt: string, version: string): string {
    return `"${salt}.${version}"`;
  }

  /** The versions that an If-None-Match header names for this address; other tags are ignored. */
  knownVersions(salt: string, ifNoneMatch = ''): { knownVersions: string[]; anyVersionKnown: boolean } {
    const start = `"${salt}.`;
    const knownVersions = tagsIn(ifNoneMatch)
      .filter((tag) => tag.startsWith(start))
      .map((tag) => tag.slice(start.length, -1));
    return { knownVersions, anyVersionKnown: ifNoneMatch.trim() === '*' };
  }
}
