import { expect } from '@jest/globals';
import type { DemoFileApplication } from '../../../src/cli/demo/demo-file.js';
import type { AttackedService, FreshCode, Tokens } from '../../attacks/attacked-service.js';
import type { Exchange } from '../../support/http-exchange.js';
import { untilAnswered } from '../../support/turned-away.js';
import { forEachOf } from '../patient-client.js';
import { grantIdOf } from './records.js';

const AT_ONCE = 16;

/** What one sign-in was told that it has. */
export interface Family {
  application: DemoFileApplication;
  grantId: string;
  accessTokens: readonly string[];
  /** The newest. */
  refreshToken: string;
}

export function firstOf({ application }: Pick<FreshCode, 'application'>, tokens: Tokens): Family {
  const { access_token: accessToken, refresh_token: refreshToken } = tokens;
  return { application, grantId: grantIdOf(accessToken), accessTokens: [accessToken], refreshToken };
}

export function refreshed(family: Family, tokens: Tokens): Family {
  return {
    ...family,
    accessTokens: [...family.accessTokens, tokens.access_token],
    refreshToken: tokens.refresh_token,
  };
}

export function tokensIn({ method, target, status, body }: Exchange): Tokens {
  if (status !== 200) {
    throw new Error(`${method} ${target} was answered ${status}: ${body}`);
  }
  return JSON.parse(body) as Tokens;
}

/** Uses the newest refresh token, which gives the same successor again until that is used. */
export async function refresh(on: AttackedService, family: Family): Promise<Family> {
  const { application, refreshToken } = family;
  return refreshed(family, tokensIn(await untilAnswered(() => on.refresh(application, refreshToken))));
}

/** Every access token is valid, and every newest refresh token can be used; returns the next ones. */
export function expectAllKnown(on: AttackedService, families: readonly Family[]): Promise<Family[]> {
  expect(families).not.toEqual([]);
  return forEachOf(families, AT_ONCE, async (family) => {
    for (const accessToken of family.accessTokens) {
      const { status, body } = await untilAnswered(() => on.userinfo(accessToken));
      expect([status, body]).toEqual([200, expect.stringContaining('"sub"')]);
    }
    return refresh(on, family);
  });
}
