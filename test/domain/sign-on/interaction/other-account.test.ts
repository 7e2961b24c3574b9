import { describe, expect, test } from '@jest/globals';
import { storedHash } from '../../../../src/identifiers/random-secrets.js';
import { databaseUnderTest } from '../../../support/databases.js';
import { audited, browserRig, hire, newPerson } from '../browser-rig.js';
import { codeOf, TestBrowser } from '../test-browser.js';

const under = databaseUnderTest('SQLite');

async function twoPeople() {
  const rig = await browserRig(under);
  const clientId = await rig.newApplication({ firstParty: false });
  const first = await newPerson(rig, [rig.here.clientId]);
  const second = await newPerson(rig, [rig.here.clientId]);
  const accountBehind = async (code: string) =>
    (await rig.signOn.unitOfWork.rows.codes.find(storedHash(code)))?.accountId;
  return { rig, clientId, first, second, accountBehind };
}

describe('another account', () => {
  test('signs in from the consent page, is asked itself, and the code is its own', async () => {
    const { rig, clientId, first, second, accountBehind } = await twoPeople();
    const browser = new TestBrowser(rig);
    await browser.authorize({ clientId });
    expect(await browser.signIn(first)).toMatchObject({ page: 'consent' });
    const ofFirst = await browser.csrfToken('consent');
    expect(await browser.show('sign_in')).toMatchObject({ kind: 'sign_in', refusals: [] });
    expect(await browser.signIn(second)).toMatchObject({ page: 'consent' });
    expect(await browser.show('consent')).toMatchObject({ accountEmail: second.email });
    const ofSecond = browser.at;
    // What was shown to the first is no approval of the second.
    expect(await browser.decide(true, ofFirst)).toMatchObject({ page: 'sign_in' });
    browser.at = ofSecond;
    expect(await accountBehind(codeOf(await browser.decide(true)))).toBe(second.accountId);
    const consents = await rig.database.reader.selectFrom('consents').selectAll().execute();
    expect(consents.map(({ account_id }) => account_id)).toEqual([second.accountId]);
  });

  test('signs in from the choice of a context', async () => {
    const { rig, first, second, accountBehind } = await twoPeople();
    await hire(rig, first, rig.here.clientId);
    const browser = new TestBrowser(rig);
    await browser.authorize();
    expect(await browser.signIn(first)).toMatchObject({ page: 'choose_context' });
    expect(await accountBehind(codeOf(await browser.signIn(second)))).toBe(second.accountId);
  });

  test('ends the session of the person before, which is on record', async () => {
    const { rig, clientId, first, second } = await twoPeople();
    const browser = new TestBrowser(rig);
    await browser.authorize({ clientId });
    await browser.signIn(first);
    await browser.signIn(first);
    await browser.signIn(second);
    const signOuts = (await audited(rig)).filter(({ what }) => what === 'sign_out succeeded');
    expect(signOuts).toMatchObject([
      { actor: second.accountId, subject: first.accountId, attributes: { reason: 'replaced' } },
    ]);
  });

  test('may be mistyped, which is said there and changes nothing', async () => {
    const { rig, clientId, first, second } = await twoPeople();
    const browser = new TestBrowser(rig);
    await browser.authorize({ clientId });
    await browser.signIn(first);
    expect(await browser.signIn(second, { password: 'wrong' })).toMatchObject({ page: 'sign_in' });
    expect(await browser.show('sign_in')).toMatchObject({
      email: second.email,
      refusals: [{ input: 'password' }],
    });
    expect(await browser.show('consent')).toMatchObject({ accountEmail: first.email });
  });
});
