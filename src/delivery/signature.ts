import { createHmac } from 'node:crypto';

/**
 * The `webhook-signature` of Standard Webhooks: over id, timestamp and the exact bytes of the body, one signature for each
 * secret that is valid, so that a receiver may know either during a rotation. The body is hashed where it lies.
 */
export function signaturesOf(
  secrets: readonly Uint8Array[],
  eventId: string,
  timestampSeconds: number,
  body: Uint8Array,
): string {
  const signedPrefix = `${eventId}.${timestampSeconds}.`;
  return secrets
    .map((secret) => `v1,${createHmac('sha256', secret).update(signedPrefix).update(body).digest('base64')}`)
    .join(' ');
}
