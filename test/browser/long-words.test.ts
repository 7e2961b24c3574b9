import { describe, expect, test } from '@jest/globals';
import { UserType } from '../../generated/proto/integration/sign_on/v1/browser.js';
import { errorPage, lockedOutPage } from '../../src/edge/pages/error.js';
import { layout, type PageContent } from '../../src/edge/pages/layout.js';
import { changeEmailPage, setPasswordPage, verifyEmailPage } from '../../src/edge/pages/links.js';
import { chooseContextPage, consentPage, signInPage, signOutPage } from '../../src/edge/pages/sign-in.js';
import { chromiumVisits } from '../support/chromium.js';
import { describeWith } from '../support/toolchains.js';
import { auditOf } from './audit.js';

/** A name as long as names may be, without a blank at which a line could break. */
const WORD = 'Straßenbahn'.repeat(18);
const EMAIL = `${'maximiliane.'.repeat(5)}mk@${'personalabteilung.'.repeat(9)}example.com`;
const shared = { csrfToken: 'c', applicationName: WORD, instanceName: WORD, formActionSource: '' };
const context = {
  userType: UserType.USER,
  clientId: 'cli_1',
  clientName: WORD,
  roleName: WORD,
  lastUsed: true,
  invited: false,
};
const consent = {
  allowedBefore: true,
  interaction: undefined,
  accountEmail: EMAIL,
  scopes: ['email'],
  context,
};
const refusals = [
  { input: '', message: `${EMAIL} has no access to ${WORD} on ${WORD}.` },
  { input: 'password', message: `Not the password of ${EMAIL}.` },
];

const pages: Record<string, PageContent> = {
  'sign in': signInPage('i', shared, { interaction: undefined, email: EMAIL, refusals, withoutAccess: true }),
  contexts: chooseContextPage('i', shared, {
    interaction: undefined,
    accountEmail: EMAIL,
    contexts: [context],
    refusals,
  }),
  consent: consentPage('i', { ...shared, formActionSource: `https://${WORD}` }, consent),
  'sign out': signOutPage('i', { ...shared, accountEmail: EMAIL }),
  'set a password': setPasswordPage('t', { email: EMAIL, invitation: true }, 'too_short'),
  'verify an address': verifyEmailPage('t', { email: EMAIL }),
  'change an address': changeEmailPage('t', { email: EMAIL, clientName: WORD }, 'wrong'),
  error: errorPage({ message: WORD, hint: WORD, developerMessage: WORD, requestId: WORD }),
  'locked out': lockedOutPage({ message: WORD, waitSeconds: 1, now: 0, backUrl: '/', requestId: WORD }),
};

describeWith('chromium', 'long words on the narrowest phone', (executable) => {
  const { visit } = chromiumVisits(executable);

  describe.each(Object.entries(pages))('%s', (_, content) => {
    test('stay within the page', async () => {
      const { page } = await visit({ viewport: { width: 320, height: 640 } });
      await page.setContent(String(layout({ ...content, scripts: [] }, true)));
      expect((await auditOf(page)).filter((fault) => fault.includes('beyond the edge'))).toEqual([]);
    });
  });

  test('what was used last says so below its name, which no word is broken for', async () => {
    const { page } = await visit({ viewport: { width: 320, height: 640 } });
    const contexts = [{ ...context, clientName: 'Tallowfern', roleName: 'Owner' }];
    const content = chooseContextPage('i', shared, {
      interaction: undefined,
      accountEmail: EMAIL,
      contexts,
      refusals: [],
    });
    await page.setContent(String(layout({ ...content, scripts: [] }, true)));
    const name = await page.getByText('Tallowfern', { exact: true }).boundingBox();
    expect(name?.height).toBeLessThan(30);
  });
});

describeWith('chromium', 'a name in a script from right to left', (executable) => {
  const { visit } = chromiumVisits(executable);
  const NAME = 'שלום!';

  test.each([
    ['of an application', signInPage, '.lead strong'],
    ['of an instance', signInPage, '.brand span'],
    ['of a client to choose', chooseContextPage, '.what b'],
    ['of the chosen client', consentPage, '.account b'],
  ])('ends at its own end, and begins at the edge of its column: %s', async (_, pageOf, selector) => {
    const { page } = await visit();
    const names = { ...shared, applicationName: NAME, instanceName: NAME };
    const one = { ...context, clientName: NAME };
    const content = pageOf('i', names, {
      ...consent,
      email: EMAIL,
      withoutAccess: false,
      refusals: [],
      contexts: [one],
      context: one,
    });
    await page.setContent(String(layout({ ...content, scripts: [] }, true)));
    const [first = 0, last = 0, edge] = await page.evaluate<number[]>(`(() => {
      const name = document.querySelector('${selector}');
      const left = (from, to) => {
        const range = document.createRange();
        range.setStart(name.firstChild, from);
        range.setEnd(name.firstChild, to);
        return range.getBoundingClientRect().left;
      };
      return [left(0, 1), left(4, 5), name.getBoundingClientRect().left];
    })()`);
    expect(last).toBeLessThan(first);
    expect(last).toBeCloseTo(edge ?? 0, 0);
  });
});
