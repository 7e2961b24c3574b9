import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { InteractionPage, UserType } from '../../../../generated/proto/integration/sign_on/v1/browser.js';
import { SEEN_FIRST, SEND_ONCE } from '../../../../src/edge/pages/fields.js';
import { expectOwnScripts } from '../refusals.js';
import { type SignOnServer, startSignOn } from '../server.js';
import { describePage, INTERACTION, shared } from './page-suite.js';

describePage({
  operationId: 'showConsent',
  statuses: [200, 303, 400, 405, 429, 500, 503],
  path: '/auth/consent',
  method: 'showInteraction',
  secret: 'interaction',
  heading: 'Allow <bdi>Northwind &lt;Scheduling&gt;</bdi> to see who you are?',
  result: {
    $case: 'consentPage',
    value: {
      interaction: shared,
      accountEmail: 'maria@example.com',
      scopes: ['openid', 'profile', 'email', 'constructor'],
      allowedBefore: true,
    },
  },
  shows: [
    /<form method="post" action="\/auth\/consent\?/,
    'You are signed in as <strong>maria@example.com</strong>. If you allow it',
    /<b>Who you are here<\/b>[\s\S]*<b>Your name<\/b>[\s\S]*<b>Your email address<\/b>/,
    // A scope without words is shown too.
    '<b>constructor</b>',
    '<button id="approve" name="decision" value="approve">Allow</button>',
    // What the buttons mean is read before them, and with them.
    /signed in as[\s\S]*may keep this access after you have signed out, until it is ended: ask the administrator of Harborlight &amp; &quot;Sons&quot;[\s\S]*id="withdraws"[\s\S]*<form/,
    '<button id="deny" name="decision" value="deny" class="quiet" aria-describedby="withdraws">Do not allow</button>',
    'Either way you go back to https://app.example.com.',
    'You have allowed this before. If you do not allow it now, Northwind &lt;Scheduling&gt; loses its access.',
  ],
  askedWith: { page: InteractionPage.CONSENT, interaction: INTERACTION },
});

describe('the context that the person goes on with', () => {
  let server: SignOnServer;

  beforeAll(async () => {
    server = await startSignOn();
  });

  afterAll(() => server.stop());

  const shownWith = async (context?: { userType: UserType; roleName?: string }) => {
    const client = {
      clientId: 'cli_1',
      clientName: 'Tallowfern <Bakeries>',
      lastUsed: false,
      invited: false,
    };
    const value = {
      interaction: shared,
      accountEmail: 'maria@example.com',
      scopes: [],
      allowedBefore: false,
      context: context && { ...client, ...context },
    };
    server.program({ showInteraction: async () => ({ result: { $case: 'consentPage', value } }) });
    return (await server.ask('showConsent', `/auth/consent?interaction=${INTERACTION}`)).body;
  };

  test.each([
    [{ userType: UserType.WORKER }, 'worker'],
    [{ userType: UserType.USER }, 'dashboard user'],
    [{ userType: UserType.USER, roleName: 'Owner' }, 'dashboard user (Owner)'],
  ])('is named with a way to change it, where there are others: %j', async (context, role) => {
    expect(await shownWith(context)).toContain(
      `Continuing as ${role} of <b>Tallowfern &lt;Bakeries&gt;</b><a href="/auth/choose-context?interaction=${INTERACTION}">Change</a>`,
    );
  });

  test('is not named where it is the only one', async () => {
    const body = await shownWith();
    expect(body).not.toContain('Continuing as');
  });
});

test('a first request does not speak of an earlier one', async () => {
  const server = await startSignOn();
  const value = { interaction: shared, accountEmail: 'a@example.com', scopes: [], allowedBefore: false };
  server.program({ showInteraction: async () => ({ result: { $case: 'consentPage', value } }) });
  const { body } = await server.ask('showConsent', `/auth/consent?interaction=${INTERACTION}`);
  await server.stop();
  expect(body).not.toMatch(/allowed this before|withdraws/);
});

describe('what the application says of itself', () => {
  let server: SignOnServer;

  beforeAll(async () => {
    server = await startSignOn();
  });

  afterAll(() => server.stop());

  const shownWith = (links: { logoUri?: string; policyUri?: string; tosUri?: string }) => {
    const shown = { interaction: shared, accountEmail: 'maria@example.com', scopes: ['openid'] };
    const value = { ...shown, allowedBefore: false, ...links };
    server.program({ showInteraction: async () => ({ result: { $case: 'consentPage', value } }) });
    return server.ask('showConsent', `/auth/consent?interaction=${INTERACTION}`);
  };
  const picturesOf = ({ headers }: Awaited<ReturnType<typeof shownWith>>) =>
    /img-src ([^;]*);/.exec(String(headers['content-security-policy']))?.[1];

  test('its logo is shown, and pictures of its origin are allowed on this page', async () => {
    const answer = await shownWith({ logoUri: 'https://cdn.example.com:8443/logo.svg?a=1&b="2"' });
    expect(answer.body).toContain(
      '<img class="logo" src="https://cdn.example.com:8443/logo.svg?a=1&amp;b=&quot;2&quot;" alt="">',
    );
    expect(picturesOf(answer)).toBe('data: https://cdn.example.com:8443');
  });

  test('its privacy policy and terms open beside the sign-in, which they cannot reach', async () => {
    const { body } = await shownWith({
      policyUri: 'https://app.example.com/privacy?a&b',
      tosUri: 'https://app.example.com/terms',
    });
    expect(body).toContain(
      '<p class="note">Read the <a href="https://app.example.com/privacy?a&amp;b" target="_blank" rel="noopener noreferrer">privacy policy</a> and the <a href="https://app.example.com/terms" target="_blank" rel="noopener noreferrer">terms of service</a> of Northwind &lt;Scheduling&gt;, in a new tab.</p>',
    );
  });

  test('what it does not say is left out', async () => {
    const answer = await shownWith({ tosUri: 'https://app.example.com/terms' });
    expect(answer.body).toMatch(/Read the <a [^>]*>terms of service<\/a> of Northwind/);
    expect(answer.body).not.toMatch(/<img|privacy policy/);
    expect(picturesOf(answer)).toBe('data:');
  });

  test.each(['javascript:alert(1)', 'data:text/html,x', '//evil.example', 'https:evil', ''])(
    'an address that is none of the web is neither shown nor allowed: %j',
    async (address) => {
      const answer = await shownWith({ logoUri: address, policyUri: address, tosUri: address });
      expect(answer.body).not.toMatch(/<img|target=/);
      expect(picturesOf(answer)).toBe('data:');
    },
  );

  test.each([
    "https://a.example.com; script-src 'unsafe-inline'/x",
    'https://*/x',
    'https://[::1]/x',
    'https://',
  ])('an origin that no policy can name is not allowed: %j', async (logoUri) => {
    const answer = await shownWith({ logoUri });
    expect(picturesOf(answer)).toBe('data:');
    expectOwnScripts(answer, [SEEN_FIRST, SEND_ONCE]);
  });
});
