import { beforeAll, describe, expect, test } from '@jest/globals';
import { describeWith } from '../../support/toolchains.js';
import { builtChecker, type Verdict, verdictsOf } from './checker.js';
import type { Kind, Operation } from './history.js';

const BUILD_LIMIT_MS = 300_000;

/** `redeem code: r1`, with the times of its call and its answer in seconds. */
type Told = [from: number, until: number | 'never', what: string];

describeWith('go', 'the checker of histories', (go) => {
  let checker: string;
  beforeAll(async () => {
    checker = await builtChecker(go);
  }, BUILD_LIMIT_MS);

  describe('accepts', () => {
    test.each<[string, ...Told[]]>([
      [
        'a code and three refreshes, and userinfo beside them',
        [0, 1, 'redeem code: r1'],
        [1, 2, 'userinfo a1: good'],
        [2, 3, 'refresh r1: r2'],
        [4, 5, 'refresh r2: r3'],
        [4, 5, 'userinfo a2: good'],
        [6, 7, 'refresh r3: r4'],
      ],
      [
        'two redemptions at once, of which the refused one ended what the other gave',
        [0, 3, 'redeem code: r1'],
        [1, 2, 'redeem code: refused'],
        [4, 5, 'refresh r1: refused'],
        [4, 5, 'userinfo a1: refused'],
      ],
      [
        'one successor for two uses of a token at once',
        [0, 1, 'redeem code: r1'],
        [2, 4, 'refresh r1: r2'],
        [3, 5, 'refresh r1: r2'],
        [6, 7, 'refresh r2: r3'],
      ],
      [
        'the same successor again for a lost answer',
        [0, 1, 'redeem code: r1'],
        [2, 'never', 'refresh r1: ?'],
        [5, 6, 'refresh r1: r2'],
        [66, 67, 'refresh r1: r2'],
        [68, 69, 'refresh r2: r3'],
      ],
      [
        'a first use for an operation that never happened',
        [0, 'never', 'redeem code: ?'],
        [1, 2, 'redeem code: r1'],
        [3, 4, 'refresh r1: r2'],
      ],
      [
        'a refusal because the operation that had no answer did happen',
        [0, 'never', 'redeem code: ?'],
        [1, 2, 'redeem code: refused'],
      ],
      [
        'one that happened long after its call, when others had been answered',
        [0, 1, 'redeem code: r1'],
        [2, 'never', 'redeem code: ?'],
        [3, 4, 'refresh r1: r2'],
        [5, 6, 'refresh r2: refused'],
      ],
      [
        'the end of a family by a token that was used late',
        [0, 1, 'redeem code: r1'],
        [2, 3, 'refresh r1: r2'],
        [64, 65, 'refresh r1: refused'],
        [66, 67, 'refresh r2: refused'],
        [66, 67, 'userinfo a2: refused'],
      ],
      [
        'the end of a family by the token before the last two',
        [0, 1, 'redeem code: r1'],
        [2, 3, 'refresh r1: r2'],
        [4, 5, 'refresh r2: r3'],
        [6, 7, 'refresh r1: refused'],
        [8, 9, 'refresh r3: refused'],
      ],
      [
        'either answer to a use at the end of the window',
        [0, 1, 'redeem code: r1'],
        [2, 4, 'refresh r1: r2'],
        [63, 64, 'refresh r1: r2'],
      ],
      [
        'a refusal at the end of the window',
        [0, 1, 'redeem code: r1'],
        [2, 4, 'refresh r1: r2'],
        [63, 64, 'refresh r1: refused'],
      ],
      [
        'a revocation beside a refresh, in either order',
        [0, 1, 'redeem code: r1'],
        [2, 4, 'revoke r1: good'],
        [3, 5, 'refresh r1: r2'],
        [6, 7, 'refresh r2: refused'],
      ],
    ])('%s', async (_, ...told) => {
      expect(await verdictOn(told)).toBe('Ok');
    });
  });

  describe('refuses', () => {
    test.each<[string, ...Told[]]>([
      [
        'a code that was good twice, one use after the other',
        [0, 1, 'redeem code: r1'],
        [2, 3, 'redeem code: r2'],
      ],
      ['a code that was good twice at once', [0, 2, 'redeem code: r1'], [1, 3, 'redeem code: r2']],
      ['a code that was refused and never redeemed', [0, 1, 'redeem code: refused']],
      [
        'a code that was good after a refusal that only a redemption explains',
        [0, 1, 'redeem code: refused'],
        [2, 3, 'redeem code: r1'],
      ],
      [
        'tokens that outlive a second use of their code',
        [0, 1, 'redeem code: r1'],
        [2, 3, 'redeem code: refused'],
        [4, 5, 'refresh r1: r2'],
      ],
      [
        'an access token that outlives a second use of its code',
        [0, 1, 'redeem code: r1'],
        [2, 3, 'redeem code: refused'],
        [4, 5, 'userinfo a1: good'],
      ],
      [
        'a refresh token with two successors',
        [0, 1, 'redeem code: r1'],
        [2, 4, 'refresh r1: r2'],
        [3, 5, 'refresh r1: r3'],
      ],
      [
        'a refresh token that was good after its successor was used',
        [0, 1, 'redeem code: r1'],
        [2, 3, 'refresh r1: r2'],
        [4, 5, 'refresh r2: r3'],
        [6, 7, 'refresh r1: r2'],
      ],
      [
        'a refresh token that was good long after its rotation',
        [0, 1, 'redeem code: r1'],
        [2, 3, 'refresh r1: r2'],
        [64, 65, 'refresh r1: r2'],
      ],
      [
        'a refresh token that was good long after a repetition of its rotation, which had no answer',
        [0, 1, 'redeem code: r1'],
        [2, 'never', 'refresh r1: ?'],
        [5, 6, 'refresh r1: r2'],
        [600, 601, 'refresh r1: r2'],
      ],
      [
        'a repetition that was refused at once',
        [0, 1, 'redeem code: r1'],
        [2, 3, 'refresh r1: r2'],
        [4, 5, 'refresh r1: refused'],
      ],
      [
        'a family that outlives the use of an old token',
        [0, 1, 'redeem code: r1'],
        [2, 3, 'refresh r1: r2'],
        [4, 5, 'refresh r2: r3'],
        [6, 7, 'refresh r1: refused'],
        [8, 9, 'refresh r3: r4'],
      ],
      [
        'a rotation that was forgotten: its successor is refused',
        [0, 1, 'redeem code: r1'],
        [2, 3, 'refresh r1: r2'],
        [4, 5, 'refresh r2: refused'],
      ],
      [
        'a redemption that was forgotten: its token is refused',
        [0, 1, 'redeem code: r1'],
        [2, 3, 'userinfo a1: refused'],
      ],
      [
        'a read that is older than the revocation that was answered before it',
        [0, 1, 'redeem code: r1'],
        [2, 3, 'revoke r1: good'],
        [4, 5, 'userinfo a1: good'],
      ],
      [
        'a revocation that was undone',
        [0, 1, 'redeem code: r1'],
        [2, 5, 'revoke r1: good'],
        [3, 4, 'userinfo a1: refused'],
        [6, 7, 'userinfo a1: good'],
      ],
      [
        'an operation without an answer that happened twice',
        [0, 1, 'redeem code: r1'],
        [2, 'never', 'refresh r1: ?'],
        [3, 4, 'refresh r1: r2'],
        [5, 6, 'refresh r1: r3'],
      ],
      [
        'an operation without an answer that happened before its call',
        [0, 1, 'redeem code: refused'],
        [2, 'never', 'redeem code: ?'],
      ],
    ])('%s', async (_, ...told) => {
      expect(await verdictOn(told)).toBe('Illegal');
    });
  });

  describe('ends in time with dozens of operations without an answer', () => {
    const unanswered = Array.from({ length: 40 }, (_, index): Told[] => [
      [2 + index / 100, 'never', 'refresh r1: ?'],
      [4 + index / 100, 'never', 'refresh r2: ?'],
      [4 + index / 100, 'never', 'userinfo a2: ?'],
    ]).flat();

    test.each<[string, Verdict, ...Told[]]>([
      ['which explain the refusals', 'Ok', [6, 7, 'refresh r2: refused'], [8, 9, 'userinfo a2: refused']],
      ['which explain the successor', 'Ok', [6, 7, 'refresh r2: r3'], [8, 9, 'refresh r3: r4']],
      ['which do not explain two successors', 'Illegal', [6, 7, 'refresh r2: r3'], [8, 9, 'refresh r2: r4']],
    ])('%s', async (_, verdict, ...told) => {
      const answered: Told[] = [
        [0, 1, 'redeem code: r1'],
        [2, 3, 'refresh r1: r2'],
      ];
      expect(await verdictOn([...answered, ...unanswered, ...told])).toBe(verdict);
    });
  });

  describe('ends in time with dozens of equal answers at once', () => {
    const equal = Array.from({ length: 20 }, (_, index): Told[] => [
      [2 + index / 64, 4 + index / 64, 'refresh r1: r2'],
      [2 + index / 64, 6 + index / 64, 'userinfo a1: good'],
      [3 + index / 64, 7 + index / 64, 'refresh r2: r3'],
      [3 + index / 64, 9 + index / 64, 'refresh r1: refused'],
      [3 + index / 64, 9 + index / 64, 'refresh r2: refused'],
    ]).flat();

    test.each<[string, Verdict, ...Told[]]>([
      ['which some order explains', 'Ok', [3, 9, 'refresh r3: refused']],
      [
        'of which the grants end before the refusals',
        'Illegal',
        [5, 6, 'refresh r1: refused'],
        [7.5, 9, 'refresh r2: r3'],
      ],
      ['of which one grant came too late', 'Illegal', [8, 8.5, 'refresh r1: r2']],
      ['of which one refusal came too early', 'Illegal', [1, 1.5, 'refresh r1: refused']],
      [
        'and refusals after the time in which a use may be repeated',
        'Ok',
        [65, 66, 'refresh r1: refused'],
        [66, 67, 'refresh r3: refused'],
      ],
      [
        'and a grant after the time in which a use may be repeated',
        'Illegal',
        [65, 66, 'refresh r1: r2'],
        [66, 67, 'refresh r3: refused'],
      ],
    ])('%s', async (_, verdict, ...told) => {
      const redemption: Told = [0, 0.5, 'redeem code: r1'];
      expect(await verdictOn([redemption, ...equal, ...told])).toBe(verdict);
    });
  });

  test('judges each family by itself', async () => {
    const one = history('one', [[0, 1, 'redeem code: r1']]);
    const other = history('other', [[0, 1, 'redeem code: refused']]);
    expect([...(await verdictsOf(checker, [...one, ...other]))]).toEqual([
      ['one', 'Ok'],
      ['other', 'Illegal'],
    ]);
  });

  test('takes no operation that it does not know', async () => {
    const [operation] = history('one', [[0, 1, 'redeem code: r1']]) as [Operation];
    const strange = { ...operation, kind: 'issue' as Kind };
    await expect(verdictsOf(checker, [strange])).rejects.toThrow('no operation with an outcome');
  });

  async function verdictOn(told: readonly Told[]): Promise<Verdict | undefined> {
    return (await verdictsOf(checker, history('family', told))).get('family');
  }
});

function history(family: string, told: readonly Told[]): Operation[] {
  return told.map(([from, until, what], client) => {
    const [, kind, token, result] = /^(\w+) (\w+): (.+)$/.exec(what) as unknown as [
      string,
      Kind,
      string,
      string,
    ];
    const outcome = result === '?' ? 'unknown' : result === 'refused' ? 'refused' : 'granted';
    return {
      ...{ family, client, kind, token, outcome, call: Math.round(from * 1_000_000) },
      ...(until !== 'never' && { return: until * 1_000_000 }),
      ...(/^r\d$/.test(result) && { gives: result }),
    };
  });
}
