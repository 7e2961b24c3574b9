import type { CopyFacts, Origin } from '../../../store/copies/copy-facts.js';
import { faultyPartOf, type ValidList } from '../../../store/copies/valid-list.js';

/** The files of a backup. `sums` is written last: a folder without it is incomplete. */
export const FILES = {
  manifest: 'manifest.json',
  sqlite: 'integration.db',
  postgresql: 'integration.dump',
  valid: 'valid.json',
  key: 'secrets.key.sealed',
  sums: 'SHA256SUMS',
} as const;

type DatabaseKind = 'sqlite' | 'postgresql';

const MANIFEST_FORMAT = 'integration-backup/1';
const VALID_FORMAT = 'integration-valid/2';
/** The limit of `Date`. */
const LAST_TIME = 8.64e15;

export interface Manifest extends CopyFacts {
  format: typeof MANIFEST_FORMAT;
  release: string;
  database: DatabaseKind;
  issuer: string;
  /** The backup contains every write that was acknowledged before this time. */
  begunAt: string;
  endedAt: string;
  /** Whether the key file is in the backup, encrypted. */
  withKey: boolean;
}

/** A list of what was valid at `readAt`, for `restore --revocations`. */
export interface ValidFile extends Origin {
  format: typeof VALID_FORMAT;
  readAt: string;
  valid: ValidList;
}

export function manifestOf(manifest: Omit<Manifest, 'format'>): Manifest {
  return { format: MANIFEST_FORMAT, ...manifest };
}

export function validFileOf(origin: Origin, readAt: string, valid: ValidList): ValidFile {
  const { environment, environmentMadeAt, changedAt } = origin;
  return { format: VALID_FORMAT, environment, environmentMadeAt, readAt, changedAt, valid };
}

/** Throws an Error whose message continues the sentence "The file … ". */
export function parseManifest(text: string): Manifest {
  const manifest = parsed<Manifest>(text, MANIFEST_FORMAT);
  refuseFault(hasTime(manifest) ? undefined : 'changedAt', 'backup');
  return manifest;
}

export function parseValidFile(text: string): ValidFile {
  const file = parsed<ValidFile>(text, VALID_FORMAT);
  const faultyTime = hasTime(file) ? undefined : 'changedAt';
  const fault = isIso(file.readAt) ? faultyTime : 'readAt';
  refuseFault(fault ?? faultyPartOf(file.valid), 'revocations');
  return file;
}

function hasTime({ changedAt }: Pick<Origin, 'changedAt'>): boolean {
  return Number.isSafeInteger(changedAt) && Math.abs(changedAt) <= LAST_TIME;
}

function isIso(time: string): boolean {
  const parsed = Date.parse(time);
  return !Number.isNaN(parsed) && new Date(parsed).toISOString() === time;
}

function refuseFault(fault: string | undefined, writer: string): void {
  if (fault !== undefined) {
    throw new Error(
      `is incomplete: ${fault} is missing or has another form than \`integration ${writer}\` writes.`,
    );
  }
}

export function asIso(time: number): string {
  return new Date(time).toISOString();
}

export function asFile(content: Manifest | ValidFile): string {
  return `${JSON.stringify(content, null, 2)}\n`;
}

function parsed<T>(text: string, format: string): T {
  let content: { format?: unknown } | undefined;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw new Error(`is not JSON: ${(error as Error).message}.`);
  }
  if (content?.format !== format) {
    throw new Error(`does not have the format ${format}: it is another file, or a newer release wrote it.`);
  }
  return content as T;
}
