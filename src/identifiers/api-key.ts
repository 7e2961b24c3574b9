import { crc32 } from 'node:zlib';
import { randomBase62, toBase62 } from './base62.js';

type Environment = 'live' | 'demo';

const RANDOM_LENGTH = 50;
const CHECKSUM_LENGTH = 6;
const SHAPE = /^ik_(live|demo)_[0-9A-Za-z]{56}$/;

/** `ik_live_` or `ik_demo_`, 50 random characters, 6 of checksum: 64 in all. */
export function newApiKey(environment: Environment): string {
  const body = `ik_${environment}_${randomBase62(RANDOM_LENGTH)}`;
  return body + checksum(body);
}

/** Decides without the store whether a text can be a key of this environment. */
export function inspectApiKey(
  text: string,
  environment: Environment,
): 'plausible' | 'malformed' | 'wrong_environment' {
  const match = SHAPE.exec(text);
  if (!match || checksum(text.slice(0, -CHECKSUM_LENGTH)) !== text.slice(-CHECKSUM_LENGTH)) {
    return 'malformed';
  }
  return match[1] === environment ? 'plausible' : 'wrong_environment';
}

/** Enough of a key to tell keys apart, and useless to others. */
export function apiKeyHint(key: string): string {
  return `${key.slice(0, 12)}…`;
}

function checksum(body: string): string {
  return toBase62(crc32(body), CHECKSUM_LENGTH);
}
