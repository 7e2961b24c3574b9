import type { Named } from '../../domain/directory/names.js';

/** The row that an outer join found; null if it found none. */
export function named(id: string | null | undefined, name: string | null | undefined): Named | null {
  return id && name != null ? { id, name } : null;
}
