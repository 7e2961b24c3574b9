import type { Named } from '../../domain/directory/names.js';

/** What an outer join found, if anything. */
export function named(id: string | null | undefined, name: string | null | undefined): Named | null {
  return id && name != null ? { id, name } : null;
}
