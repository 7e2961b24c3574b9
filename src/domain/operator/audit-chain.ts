import type { AuditEvent } from './audit.js';

/** A digest that only the holder of the environment's keys can make. */
export type AuditMac = (bytes: string) => Buffer;

/** Where a record stands: in which chain, at which place, and the hash that vouches for it and for all records before it. */
export interface ChainPlace {
  chain: string;
  /** 1 for the first of a chain. */
  seq: number;
  /** HMAC-SHA256 in base64url. */
  hash: string;
}

export interface ChainedEvent extends AuditEvent, ChainPlace {}

/** What the first record of a chain follows. */
export const NO_HASH = '';

/** The record that a purge leaves: up to where it removed a chain. Without it the chain would seem cut. */
export const PURGED_TYPE = 'audit.purged';
/** The record that names the newest records of chains, so that removing these, or a whole chain, is noticed. */
export const ANCHORED_TYPE = 'audit.anchored';

/** What a purge says of a chain: all up to this place went by right. */
export interface PurgeClaim extends ChainPlace {
  /** Vouches for the claim by itself, whatever became of the records around the one that tells of it. */
  proof: string;
}

export function purgeClaimOf(mac: AuditMac, { chain, seq, hash }: ChainPlace): PurgeClaim {
  const text = JSON.stringify([PURGED_TYPE, chain, seq, hash]);
  return { chain, seq, hash, proof: mac(text).toString('base64url') };
}

const FINGERPRINT_LENGTH = 8;

/** Tells which key a chain was made with, and nothing else about it. */
export function fingerprintOf(mac: AuditMac): string {
  return mac('fingerprint').toString('hex').slice(0, FINGERPRINT_LENGTH);
}

/** Covers everything that is stored of the record but its own hash. */
export function hashOf(
  mac: AuditMac,
  event: AuditEvent & Pick<ChainPlace, 'chain' | 'seq'>,
  previousHash: string,
): string {
  const attributes = Object.entries(event.attributes).sort(([one], [other]) => (one < other ? -1 : 1));
  const text = JSON.stringify([
    1,
    previousHash,
    event.chain,
    event.seq,
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
