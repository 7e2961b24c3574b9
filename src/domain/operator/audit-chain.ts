import type { AuditEvent } from './audit.js';

/** A digest that needs the environment's audit key. */
export type AuditMac = (bytes: string) => Buffer;

/** The place of a record: its chain, its number, and a hash over it and all earlier records of the chain. */
export interface ChainPlace {
  chain: string;
  /** 1 for the first of a chain. */
  seq: number;
  /** HMAC-SHA256 in base64url. */
  hash: string;
}

/** Whether a chain can have it: a whole number from 1. */
export function isPlace(seq: number): boolean {
  return Number.isSafeInteger(seq) && seq >= 1;
}

export interface ChainedEvent extends AuditEvent, ChainPlace {}

/** The previous hash of the first record. */
export const NO_HASH = '';

/** The record of a purge: up to where it removed a chain. Without it the chain would seem cut. */
export const PURGED_TYPE = 'audit.purged';
/** A record that names the newest records of chains, so that their removal is noticed. */
export const ANCHORED_TYPE = 'audit.anchored';
/** The domain names at most this many chains in an anchor; a forged anchor may name any number. */
export const CHAINS_IN_A_RECORD = 100;

/** States that the records of a chain up to this place were purged. */
export interface PurgeClaim extends ChainPlace {
  /** Authenticates the claim by itself, even if the records around it are gone. */
  proof: string;
}

export function purgeClaimOf(mac: AuditMac, { chain, seq, hash }: ChainPlace): PurgeClaim {
  const text = JSON.stringify([PURGED_TYPE, chain, seq, hash]);
  return { chain, seq, hash, proof: mac(text).toString('base64url') };
}

/** The claim of a record, if the claim authenticates itself. */
export function purgeClaimIn(
  mac: AuditMac,
  { type, subject, attributes }: AuditEvent,
): PurgeClaim | undefined {
  if (type !== PURGED_TYPE || !subject) {
    return undefined;
  }
  const { seq, hash = NO_HASH, proof } = attributes;
  const claim = purgeClaimOf(mac, { chain: subject.id, seq: Number(seq), hash });
  return claim.proof === proof ? claim : undefined;
}

const FINGERPRINT_LENGTH = 8;

/** Identifies the key of a chain without disclosing it. */
export function fingerprintOf(mac: AuditMac): string {
  return mac('fingerprint').toString('hex').slice(0, FINGERPRINT_LENGTH);
}

/** Covers all stored columns of the record except its own hash. */
export function hashOf(
  mac: AuditMac,
  event: AuditEvent,
  { chain, seq }: Pick<ChainPlace, 'chain' | 'seq'>,
  previousHash: string,
): string {
  const attributes = Object.entries(event.attributes).sort(([one], [other]) => (one < other ? -1 : 1));
  const text = JSON.stringify([
    1,
    previousHash,
    chain,
    seq,
    event.id,
    event.createdAt,
    event.type,
    event.outcome,
    event.actor.type,
    event.actor.id,
    event.subject?.type ?? null,
    event.subject?.id ?? null,
    event.requestId,
    event.remoteAddress,
    attributes,
  ]);
  return mac(text).toString('base64url');
}
