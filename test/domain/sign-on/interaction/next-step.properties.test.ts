import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { nextStep, type Situation } from '../../../../src/domain/sign-on/interaction/next-step.js';
import { A, ADA, B, BEN, context, NOW, person, situation } from './situations.js';

describe('whatever the situation', () => {
  const accountId = fc.constantFrom(ADA, BEN);
  const choice = fc.constantFrom(A, B, context('cli_a', 'WORKER'), context('cli_c'));
  const at = fc.constantFrom(NOW - 60_000, NOW - 3_600_000, NOW);
  const situations: fc.Arbitrary<Situation> = fc
    .record({
      silent: fc.boolean(),
      signedIn: fc.option(fc.record({ id: accountId, authenticatedAt: at })),
      isKnown: fc.boolean(),
      disabledAt: fc.constantFrom(undefined, 1),
      contexts: fc.uniqueArray(choice, { maxLength: 3 }),
      lastContext: fc.option(choice, { nil: undefined }),
      prompts: fc.subarray(['login', 'consent', 'select_account'] as const),
      maxAgeSeconds: fc.option(fc.constantFrom(0, 60, 7_200)),
      hintedAccountId: fc.option(accountId),
      progress: fc.record(
        {
          signedInAt: at,
          signedInBy: accountId,
          approvedBy: accountId,
          refusal: fc.constantFrom(
            'credentials',
            'no_address',
            'no_access',
            'context',
            'other_sign_in' as const,
          ),
          context: fc
            .tuple(choice, accountId, at)
            .map(([chosen, id, authenticatedAt]) => ({ ...chosen, accountId: id, authenticatedAt })),
        },
        { requiredKeys: [] },
      ),
      approvedScopes: fc.subarray(['openid', 'email']),
      as: fc.record(
        { enabled: fc.boolean(), firstParty: fc.boolean(), allowedScopes: fc.subarray(['openid', 'email']) },
        { requiredKeys: [] },
      ),
    })
    .map(
      ({
        isKnown,
        disabledAt,
        contexts,
        lastContext,
        prompts,
        maxAgeSeconds,
        hintedAccountId,
        as,
        ...rest
      }) => ({
        ...situation({ application: as, request: { prompts, maxAgeSeconds, hintedAccountId } }),
        ...rest,
        identity:
          rest.signedIn && isKnown
            ? person({ contexts, lastContext, ...(disabledAt && { disabledAt }) })
            : undefined,
      }),
    );

  test('prompt=none shows no page', () => {
    fc.assert(
      fc.property(situations, (now) => {
        expect(nextStep({ ...now, silent: true }).kind).not.toBe('page');
      }),
    );
  });

  test('a code is only for the signed-in, enabled and expected person, whose context admits them', () => {
    fc.assert(
      fc.property(situations, (now) => {
        const step = nextStep(now);
        if (step.kind === 'issue') {
          expect(step).toMatchObject({
            accountId: now.signedIn?.id,
            authenticatedAt: now.signedIn?.authenticatedAt,
          });
          expect(now.identity?.account.disabledAt).toBeNull();
          expect(now.identity?.contexts).toContain(step.context);
          expect([null, step.accountId]).toContain(now.request.hintedAccountId);
          expect(now.application?.enabled).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test('a code for prompt=login follows a sign-in of the person here, or a later one of theirs', () => {
    fc.assert(
      fc.property(situations, ({ request, ...now }) => {
        const step = nextStep({ ...now, request: { ...request, prompts: ['login'] } });
        if (step.kind === 'issue') {
          const { signedInAt = Number.POSITIVE_INFINITY, signedInBy } = now.progress;
          expect(step.authenticatedAt).toBeGreaterThanOrEqual(signedInAt);
          expect([undefined, step.accountId]).toContain(signedInBy);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test('a code has the approval of the person, unless the application is ours', () => {
    fc.assert(
      fc.property(situations, (now) => {
        const { progress, approvedScopes, request: asked } = now;
        if (nextStep(now).kind === 'issue' && !now.application?.firstParty) {
          const remembered = asked.scopes.every((scope) => approvedScopes.includes(scope));
          const isRemembered = remembered && !asked.prompts.includes('consent');
          expect(isRemembered || progress.approvedBy === now.signedIn?.id).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test('it is the same step again', () => {
    fc.assert(
      fc.property(situations, (now) => {
        const before = JSON.stringify(now);
        expect(nextStep(now)).toEqual(nextStep(now));
        expect(JSON.stringify(now)).toBe(before);
      }),
    );
  });
});
