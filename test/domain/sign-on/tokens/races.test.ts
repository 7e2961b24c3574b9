import { expect, test } from '@jest/globals';
import { disableAccount } from '../../../../src/domain/platform/people/account-updates.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import {
  audited,
  exchangeCode,
  grantOf,
  newCode,
  rotateRefreshToken,
  signedIn,
  tokenRig,
} from '../token-rig.js';

const AT_ONCE = 50;

function together<T>(work: (index: number) => Promise<T>): Promise<PromiseSettledResult<T>[]> {
  return Promise.allSettled(Array.from({ length: AT_ONCE }, (_, index) => work(index)));
}

function successes<T>(outcomes: readonly PromiseSettledResult<T>[]): T[] {
  return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
}

describeEachDatabase('tokens asked for at once', (under) => {
  test('of 50 redemptions of one code one succeeds, and the others revoke what it gave', async () => {
    const rig = await tokenRig(under);
    const { code, exchange } = await newCode(rig);
    const outcomes = await together(() => exchangeCode(rig.issuer, rig.application.client, exchange));

    const [tokens, ...more] = successes(outcomes);
    expect(more).toEqual([]);
    const codes = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []));
    expect(new Set(codes)).toEqual(new Set(['ERROR_CODE_INVALID_GRANT']));
    expect(codes).toHaveLength(AT_ONCE - 1);
    expect((await grantOf(rig, code.grantId))?.revokedAt).toBe(rig.clock.now());
    const refreshToken = tokens?.refreshToken as string;
    const refresh = rotateRefreshToken(rig.issuer, rig.application.client, { refreshToken });
    expect(await refusalOf(refresh)).toMatchObject({ code: 'INVALID_GRANT' });
    expect(await audited(rig)).toEqual(['code.replayed refused', 'token.issued succeeded']);
  });

  test('50 refreshes with one token all learn of one successor', async () => {
    const rig = await tokenRig(under);
    const { refreshToken, grantId } = await signedIn(rig);
    const outcomes = await together(() =>
      rotateRefreshToken(rig.issuer, rig.application.client, { refreshToken }),
    );

    const answers = successes(outcomes);
    expect(answers).toHaveLength(AT_ONCE);
    const successors = new Set(answers.map((answer) => answer.refreshToken));
    expect([...successors]).toEqual([rig.issuer.refreshTokens.seal(grantId, 2)]);
    expect(new Set(answers.map(({ accessToken }) => accessToken)).size).toBe(AT_ONCE);
    expect(await grantOf(rig, grantId)).toMatchObject({ generation: 2, revokedAt: null });
  });

  test('one use after the window revokes the family, a successor made in that moment included', async () => {
    const rig = await tokenRig(under);
    const { refreshToken: first, grantId } = await signedIn(rig);
    const { issuer, application } = rig;
    const { refreshToken: second } = await rotateRefreshToken(issuer, application.client, {
      refreshToken: first,
    });
    rig.clock.advance(10_001);
    // The rightful holder and the thief, in every order that the database makes of it.
    const outcomes = await together((index) =>
      rotateRefreshToken(issuer, application.client, {
        refreshToken: index % 2 ? first : (second as string),
      }),
    );
    const rightful = successes(outcomes);
    expect((await grantOf(rig, grantId))?.revokedAt).toBe(rig.clock.now());
    for (const refreshToken of [first, second, ...rightful.map((answer) => answer.refreshToken)]) {
      const use = rotateRefreshToken(issuer, application.client, { refreshToken: refreshToken as string });
      expect(await refusalOf(use)).toMatchObject({ code: 'INVALID_GRANT' });
    }
    expect((await audited(rig)).filter((line) => line.startsWith('refresh_token.reused'))).toHaveLength(1);
  });

  test('no code of a person who is disabled meanwhile leaves valid tokens', async () => {
    const rig = await tokenRig(under);
    const codes = await Promise.all(Array.from({ length: 10 }, () => newCode(rig)));
    const disabling = rig.issuer.unitOfWork.run((changes) => disableAccount(changes, rig.accountId));
    const exchanges = codes.map(({ exchange }) => exchangeCode(rig.issuer, rig.application.client, exchange));
    const given = successes(await Promise.allSettled(exchanges));
    await disabling;
    for (const { refreshToken } of given) {
      const use = rotateRefreshToken(rig.issuer, rig.application.client, {
        refreshToken: refreshToken as string,
      });
      expect(await refusalOf(use)).toMatchObject({ code: 'INVALID_GRANT' });
    }
    const { rows } = rig.issuer.unitOfWork;
    const grants = await Promise.all(codes.map(({ code }) => rows.grants.find(code.grantId)));
    expect(grants.filter((grant) => grant && grant.revokedAt === null)).toEqual([]);
  });
});
