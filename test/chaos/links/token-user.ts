import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { storedHash } from '../../../src/identifiers/random-secrets.js';
import type { Database } from '../../../src/store/database.js';
import type { AttackedService, FreshCode, Tokens } from '../../attacks/attacked-service.js';
import type { Exchange } from '../../support/http-exchange.js';
import { untilAnswered } from '../../support/turned-away.js';
import { answerUnlessCut, forEachOf } from '../patient-client.js';

const REFRESHES = 4;
/** Of the codes, and of the refresh tokens, used twice at the same moment. */
const RACED_SHARE = 0.25;
const PAUSE_MS = 60;
const AT_ONCE = 8;

/** A code and its tokens, as far as their user was told. */
interface Family {
  fresh: FreshCode;
  /** The code was used twice at once, which revokes what it gave. */
  isRaced: boolean;
  /** Requests without an answer, which may be done at any later time. */
  lost: number;
  wasRefused: boolean;
  refreshTokens: string[];
}

/** Exchanges codes and refreshes, repeats what was lost, and notes what must never be. */
export class TokenUser {
  readonly faults: string[] = [];
  readonly families: Family[] = [];
  answered = 0;

  constructor(
    private readonly on: AttackedService,
    private readonly newCode: () => Promise<FreshCode>,
    private readonly random: () => number,
  ) {}

  async run(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.exchange(isOver);
    }
  }

  /** One code, and then its tokens. */
  async exchange(isOver: () => boolean): Promise<void> {
    const isRaced = this.random() < RACED_SHARE;
    const fresh = await this.newCode();
    const family: Family = { fresh, isRaced, lost: 0, wasRefused: false, refreshTokens: [] };
    this.families.push(family);
    await this.#redeem(family, isOver);
    for (let times = 0; times < REFRESHES && !isOver() && !isRaced && !family.wasRefused; times += 1) {
      await this.#refresh(family, isOver);
    }
  }

  async #redeem(family: Family, isOver: () => boolean): Promise<void> {
    const answers = await this.#answers(family, () => this.on.redeem(family.fresh), {
      uses: family.isRaced ? 2 : 1,
      isOver,
    });
    const granted = this.#granted(family, answers, family.isRaced || family.lost > 0);
    if (granted.length > 1) {
      this.faults.push(`a code was granted ${granted.length} times`);
    }
    family.refreshTokens.push(...granted);
  }

  /** Two uses at once get the same successor. */
  async #refresh(family: Family, isOver: () => boolean): Promise<void> {
    const shown = family.refreshTokens.at(-1);
    if (shown === undefined) {
      return;
    }
    const uses = this.random() < RACED_SHARE ? 2 : 1;
    const answers = await this.#answers(family, () => this.on.refresh(family.fresh.application, shown), {
      uses,
      isOver,
    });
    const granted = new Set(this.#granted(family, answers, family.lost > 0));
    if (granted.size > 1 || family.refreshTokens.some((token) => granted.has(token))) {
      this.faults.push(`a refresh token has ${granted.size} successors, or an earlier one`);
    }
    family.refreshTokens.push(...granted);
  }

  /** Asks so often at once, and again until one is answered. */
  async #answers(
    family: Family,
    ask: () => Promise<Exchange>,
    { uses, isOver }: { uses: number; isOver: () => boolean },
  ): Promise<Exchange[]> {
    for (;;) {
      await pause(PAUSE_MS);
      const asked = Array.from({ length: uses }, () => answerUnlessCut(ask()));
      const answers = (await Promise.all(asked)).flatMap((answer) => answer ?? []);
      family.lost += uses - answers.length;
      if (answers.length > 0 || isOver()) {
        this.answered += answers.length;
        return answers;
      }
    }
  }

  /** The refresh tokens in them. What was lost may have been done, so that a repetition is refused. */
  #granted(family: Family, answers: readonly Exchange[], mayBeRefused: boolean): string[] {
    return answers.flatMap(({ status, body }) => {
      if (status === 200) {
        return [(JSON.parse(body) as Tokens).refresh_token];
      }
      const { error } = JSON.parse(body) as { error?: string };
      if (!mayBeRefused || status !== 400 || error !== 'invalid_grant') {
        this.faults.push(`a token was answered ${status}: ${body}`);
      }
      family.wasRefused = true;
      return [];
    });
  }
}

/** Families of which the database knows other than what their user was told. */
export async function differencesFrom({ reader }: Database, families: readonly Family[]): Promise<string[]> {
  const { rows } = await sql<{ hash: string; done: number | null; revokedAt: number | null }>`
    select codes.hash, grants.generation as done, grants.revoked_at as "revokedAt"
    from authorization_codes as codes left join grants on grants.id = codes.grant_id`.execute(reader);
  const known = new Map(rows.map((row) => [row.hash, row]));
  return families.flatMap(({ fresh, isRaced, lost, wasRefused, refreshTokens }) => {
    const row = known.get(storedHash(fresh.code));
    const told = refreshTokens.length;
    const unknown = (row?.done ?? 0) - told;
    const isTold = unknown === 0 || (unknown === 1 && lost > 0);
    const mayBeRevoked = isRaced || lost > 0;
    const isGood = row && isTold && (mayBeRevoked || row.revokedAt === null);
    return isGood ? [] : [JSON.stringify({ told, lost, isRaced, wasRefused, row })];
  });
}

/** What is spent is refused, after the newest token of families that lost no answer was accepted. */
export async function refusalsOf(on: AttackedService, families: readonly Family[]): Promise<string[]> {
  const faults = await forEachOf(families, AT_ONCE, async ({ fresh, isRaced, lost, refreshTokens }) => {
    const { application } = fresh;
    const newest = refreshTokens.at(-1);
    const isKept = newest !== undefined && !isRaced && lost === 0;
    const kept = isKept ? (await untilAnswered(() => on.refresh(application, newest))).status : 200;
    // Until its successor is used, the last spent token of other families may be repeated.
    const spent = isKept ? refreshTokens.slice(0, -1).slice(-2) : [];
    const again = [];
    for (const token of spent) {
      again.push((await untilAnswered(() => on.refresh(application, token))).status);
    }
    if (newest !== undefined) {
      again.push((await untilAnswered(() => on.redeem(fresh))).status);
    }
    return kept === 200 && again.every((status) => status === 400)
      ? []
      : [`the newest token was answered ${kept}, what is spent ${again}`];
  });
  return faults.flat();
}
