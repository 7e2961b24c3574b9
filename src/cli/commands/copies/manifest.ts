import type { CopyFacts, Origin } from '../../../store/copies/copy-facts.js';
import { jsonIn } from '../json.js';

/** The files of a backup. `sums` is written last: a folder without it is incomplete. */
export const FILES = {
  manifest: 'manifest.json',
  sqlite: 'integration.db',
  postgresql: 'integration.dump',
  valid: 'valid.jsonl',
  key: 'secrets.key.sealed',
  sums: 'SHA256SUMS',
} as const;

export const MANIFEST_FORMAT = 'integration-backup/1';
/** The limit of `Date`. */
const LAST_TIME = 8.64e15;

export interface Manifest extends CopyFacts {
  format: typeof MANIFEST_FORMAT;
  release: string;
  database: 'sqlite' | 'postgresql';
  issuer: string;
  /** The backup contains every write that was acknowledged before this time. */
  begunAt: string;
  endedAt: string;
  /** Whether the key file is in the backup, encrypted. */
  withKey: boolean;
}

/** Throws an Error whose message continues the sentence "The file … ". */
export function parseManifest(text: string): Manifest {
  const manifest = parsed<Manifest>(text, MANIFEST_FORMAT);
  if (!hasTime(manifest)) {
    throw incomplete('changedAt', 'backup');
  }
  return manifest;
}

export function hasTime({ changedAt }: Pick<Origin, 'changedAt'>): boolean {
  return Number.isSafeInteger(changedAt) && Math.abs(changedAt) <= LAST_TIME;
}

export function incomplete(fault: string, writer: string): Error {
  return new Error(
    `is incomplete: ${fault} is missing or has another form than \`integration ${writer}\` writes.`,
  );
}

export function asIso(time: number): string {
  return new Date(time).toISOString();
}

/** The content of a file that begins with its format. */
export function parsed<T>(text: string, format: string): T {
  const content = jsonIn(text) as { format?: unknown } | null | undefined;
  if (content?.format !== format) {
    throw new Error(`does not have the format ${format}: it is another file, or a newer release wrote it.`);
  }
  return content as T;
}
