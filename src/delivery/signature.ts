import { createHmac, type KeyObject } from 'node:crypto';

/**
 * The `webhook-signature` of Standard Webhooks over id, timestamp and body, one per valid secret, so that
 * receivers may have either during a rotation. Hashes the body in place.
 */
export function signaturesOf(
  secrets: readonly KeyObject[],
  eventId: string,
  timestampSeconds: number,
  body: Uint8Array,
): string {
  const signedPrefix = `${eventId}.${timestampSeconds}.`;
  return secrets
    .map((secret) => `v1,${createHmac('sha256', secret).update(signedPrefix).update(body).digest('base64')}`)
    .join(' ');
}
