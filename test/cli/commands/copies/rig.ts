import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { type RestoreOptions, restore } from '../../../../src/cli/commands/copies/restore-actions.js';
import { loadConfig } from '../../../../src/config/config.js';
import type { Typed } from '../../typed.js';
import { sharedIntegration } from '../../typed.js';

/** The settings of a separate environment in the folder, without a database. */
export function settingsIn(folder: string, databaseUrl?: string): Record<string, string> {
  return {
    ...{ DATA_DIR: join(folder, 'data'), SECRETS_KEY_FILE: join(folder, 'keys/secrets.key') },
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  };
}

export async function succeeded(typed: Promise<Typed>): Promise<string> {
  const { code, stdout, stderr } = await typed;
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

export async function newLive(folder: string, databaseUrl?: string): Promise<Record<string, string>> {
  const settings = settingsIn(folder, databaseUrl);
  await succeeded(sharedIntegration(['init', '--json'], settings));
  return settings;
}

export function restoring(folder: string, into: Record<string, string>, options: RestoreOptions = {}) {
  return restore(loadConfig(into), folder, options);
}

/** Whether the directory has no database on which a service would start. */
export function isUntouched({ DATA_DIR = '' }: Record<string, string>): boolean {
  return !existsSync(join(DATA_DIR, 'integration.db'));
}

/** A copy of a backup with one changed file and, on request, matching checksums. */
export function changedBackup(
  backup: string,
  target: string,
  name: string,
  change: (content: Buffer) => Buffer | string,
  { summed = false } = {},
): string {
  mkdirSync(target);
  for (const each of readdirSync(backup)) {
    const content = readFileSync(join(backup, each));
    writeFileSync(join(target, each), each === name ? change(content) : content);
  }
  if (summed) {
    const sums = readFileSync(join(target, 'SHA256SUMS'), 'utf8');
    const sum = createHash('sha256')
      .update(readFileSync(join(target, name)))
      .digest('hex');
    writeFileSync(
      join(target, 'SHA256SUMS'),
      sums.replace(new RegExp(`^.{64}  ${name}$`, 'm'), `${sum}  ${name}`),
    );
  }
  return target;
}

/** Flips one bit in the middle. */
export function damaged(content: Buffer): Buffer {
  const changed = Buffer.from(content);
  const place = Math.floor(changed.length / 2);
  changed[place] = (changed[place] as number) ^ 1;
  return changed;
}
