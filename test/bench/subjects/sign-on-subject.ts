import type { Target } from '../load/questions.js';

/** What a load may ask of a sign-on server, each with fresh codes or tokens. */
export interface SignOnSubject {
  /** So many exchanges, each possible once. */
  codeExchanges(count: number): Promise<Target>;
  /** So many conversations, each going on with the newest token. */
  refreshes(count: number): Promise<Target>;
  /** Over so many tokens. */
  userinfos(count: number): Promise<Target>;
}
