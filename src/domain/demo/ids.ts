import { createHash } from 'node:crypto';
import { type PublicIdKind, type PublicIds, publicIdPrefixes } from '../../../generated/ids.js';

/** A public id that is derived from its name, so that examples and scripts can rely on it. */
export function demoId<K extends PublicIdKind>(kind: K, name: string): PublicIds[K] {
  return `${publicIdPrefixes[kind]}_${textOf(`${kind}:${name}`)}` as PublicIds[K];
}

/** Roles have no public id, and so no kind. */
export function demoRoleId(name: string): string {
  return textOf(`Role:${name}`);
}

function textOf(name: string): string {
  const digest = createHash('sha512').update(`demo:${name}`).digest('base64');
  return digest.replace(/[^0-9A-Za-z]/g, '').slice(0, 22);
}
