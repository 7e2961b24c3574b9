import { describe, expect, test } from '@jest/globals';
import type { SignOnChanges } from '../../../../src/domain/sign-on/sign-on.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { audited, browserRig, newPerson } from '../browser-rig.js';
import { codeOf, signedInBrowser, TestBrowser } from '../test-browser.js';
import { ISSUER } from '../token-keys.js';

// On SQLite one transaction follows another, so neither reads what the other changes.
const under = databaseUnderTest('PostgreSQL');

describe('a sign-out in one tab, and the sign-in of another person in another one', () => {
  async function twoTabs() {
    const rig = await browserRig(under);
    const one = await newPerson(rig, [rig.here.clientId]);
    const other = await newPerson(rig, [rig.here.clientId]);
    const iat = Math.floor(rig.clock.now() / 1_000);
    const hint = { iss: ISSUER, sub: one.accountId, aud: rig.applicationId, iat };
    const idTokenHint = await rig.keys.sign('RS256', 'JWT', hint);
    const browser = await signedInBrowser(rig, one);
    const tab = Object.assign(new TestBrowser(rig), { cookie: browser.cookie });
    await tab.authorize({ prompt: 'login' });
    const csrfToken = await tab.csrfToken('sign_in');
    const { unitOfWork } = rig.signOn;
    /** Between the look at the session and the lock of its person. */
    const beforeLock = (meanwhile: () => Promise<unknown>) => {
      rig.signOn.unitOfWork = {
        ...unitOfWork,
        run: (work, ...more) =>
          unitOfWork.run(
            (changes) => {
              const lock: SignOnChanges['lock'] = async (...ids) => {
                if (ids.includes(one.accountId)) {
                  rig.signOn.unitOfWork = unitOfWork;
                  await meanwhile();
                }
                await changes.lock(...ids);
              };
              return work(Object.create(changes, { lock: { value: lock } }));
            },
            ...more,
          ),
      };
    };
    const record = async () =>
      (await audited(rig))
        .filter(({ what }) => what === 'sign_out succeeded')
        .map(({ subject, attributes }) => [subject, attributes.reason]);
    const sessions = async () =>
      (await rig.database.reader.selectFrom('sessions').select('account_id').execute()).map(
        ({ account_id }) => account_id,
      );
    return {
      ...{ one, other, tab, beforeLock, record, sessions },
      signIn: () => tab.signIn(other, { csrfToken }),
      signOut: () => browser.logout({ idTokenHint }),
    };
  }

  test('leaves the session of the other person, who signed in meanwhile', async () => {
    const { one, other, signIn, signOut, beforeLock, record, sessions } = await twoTabs();
    beforeLock(signIn);
    expect(await signOut()).toMatchObject({ page: 'signed_out' });
    expect(await sessions()).toEqual([other.accountId]);
    expect(await record()).toEqual([[one.accountId, 'replaced']]);
  });

  test('does not keep the other person out, nor end the same session twice', async () => {
    const { one, other, tab, signIn, signOut, beforeLock, record, sessions } = await twoTabs();
    beforeLock(signOut);
    expect(codeOf(await signIn())).toBeDefined();
    expect(await sessions()).toEqual([other.accountId]);
    expect(await record()).toEqual([[one.accountId, undefined]]);
    expect(codeOf(await tab.authorize({ prompt: 'none' }))).toBeDefined();
  });
});
