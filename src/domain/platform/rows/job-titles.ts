import type { ClientId } from '../../../../generated/ids.js';

/** The titles of a client; a title is identified by its text. */
export interface JobTitleRows {
  has(clientId: ClientId, title: string): Promise<boolean>;
  /** In byte order. */
  page(clientId: ClientId, after: string | undefined, limit: number): Promise<string[]>;
  /** Adds missing titles, and returns their number. */
  add(clientId: ClientId, titles: readonly string[]): Promise<number>;
  remove(clientId: ClientId, title: string): Promise<void>;
}
