import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Exchange, exchange } from '../support/http-exchange.js';
import { serviceProcesses } from '../support/service-process.js';
import { AttackedService, BEHIND_PROXY, credentialsOf, redirectUriOf } from './attacked-service.js';
import { FORM, newAddress } from './user-agent.js';
import { expectErrorPage, redirectOf } from './verdicts.js';

/** Enough to meet what is common in a kind of text, on each of the many runs that the tests get. */
const RUNS = { numRuns: 60 };

const services = serviceProcesses();
let attacked: AttackedService;

beforeAll(async () => {
  attacked = new AttackedService(await services.start(BEHIND_PROXY));
});

const ask = (target: string) => exchange(attacked.port, target);

function post(path: string, body: Buffer | string, headers: Record<string, string>): Promise<Exchange> {
  const own = { 'content-type': FORM, 'x-forwarded-for': newAddress() };
  return exchange(attacked.port, path, { method: 'POST', headers: { ...own, ...headers }, body });
}

/** A refusal that programs can read, and no fault. */
function expectJsonRefusal({ status, headers, body }: Exchange): void {
  expect([400, 401]).toContain(status);
  expect([headers['content-type'], typeof JSON.parse(body).error]).toEqual(['application/json', 'string']);
}

const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
/** What an address may be made of, the special characters often. */
const written = fc.string({ unit: fc.constantFrom(...'abc=&%+;0C3AF[]{}"\'.:/?@\\_'), maxLength: 60 });

/** One change to a text: a letter gone, added, doubled, escaped or in the other case. */
const changes: fc.Arbitrary<(text: string) => string> = fc
  .tuple(
    fc.nat(),
    fc.constantFrom('drop', 'add', 'double', 'escape', 'case'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
  )
  .map(([position, kind, added]) => (text) => {
    const at = position % text.length;
    const [before, letter, after] = [text.slice(0, at), text.charAt(at), text.slice(at + 1)];
    const flipped = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
    const escaped = `%${letter.charCodeAt(0).toString(16)}`;
    const put = {
      drop: '',
      add: `${added}${letter}`,
      double: letter.repeat(2),
      escape: escaped,
      case: flipped,
    }[kind];
    return `${before}${put}${after}`;
  });

describe('an authorization request', () => {
  test('gets no redirect with a redirect URI that differs from the registered one by a single letter', async () => {
    await fc.assert(
      fc.asyncProperty(changes, async (change) => {
        const registered = redirectUriOf(attacked.portal, 2);
        const uri = change(registered);
        fc.pre(uri !== registered && !attacked.portal.redirectUris.some((one) => one.uri === uri));
        expectErrorPage(await ask(attacked.authorizeTarget(attacked.portal, { redirect_uri: uri })));
      }),
      RUNS,
    );
  });

  test('gets no redirect with a client_id that differs from a registered one by a single letter', async () => {
    await fc.assert(
      fc.asyncProperty(changes, async (change) => {
        const clientId = change(attacked.portal.clientId);
        fc.pre(clientId !== attacked.portal.clientId);
        expectErrorPage(await ask(attacked.authorizeTarget(attacked.portal, { client_id: clientId })));
      }),
      RUNS,
    );
  });

  test('redirects to the registered address or not at all, whatever else it contains', async () => {
    const target = redirectUriOf(attacked.portal);
    await fc.assert(
      fc.asyncProperty(written, async (text) => {
        const answer = await ask(`${attacked.authorizeTarget(attacked.portal, { prompt: 'none' })}&${text}`);
        if (answer.status === 400) {
          expectErrorPage(answer);
        } else {
          const redirect = redirectOf(answer);
          expect(redirect.target).toBe(target);
          expect(Object.fromEntries(redirect.parameters)).toMatchObject({ iss: attacked.issuer });
        }
      }),
      RUNS,
    );
  });

  test('gets no scope by any other text than the names of scopes', async () => {
    const names = fc.constantFrom(
      'openid',
      'profile',
      'email',
      'OPENID',
      'admin',
      '',
      '\t',
      '*',
      '__proto__',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(names, { minLength: 1, maxLength: 4 }),
        fc.constantFrom(' ', '  ', ',', '+'),
        async (parts, between) => {
          const scope = parts.join(between);
          const isGood = /^(openid|profile|email)( (openid|profile|email))*$/.test(scope);
          const answer = await ask(attacked.authorizeTarget(attacked.portal, { scope, prompt: 'none' }));
          const { error } = Object.fromEntries(redirectOf(answer).parameters);
          expect(error).toBe(isGood ? 'login_required' : 'invalid_scope');
        },
      ),
      RUNS,
    );
  });
});

describe('a call for tokens', () => {
  test('is refused, and breaks nothing, with any credentials in its header', async () => {
    const credentials = fc.oneof(
      bytes.map((value) => value.toString('base64')),
      fc.string({ unit: 'grapheme' }).map((value) => Buffer.from(value).toString('base64')),
      fc.string({ unit: 'grapheme-ascii' }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('Basic', 'basic', 'Bearer', ''),
        credentials,
        async (scheme, value) => {
          const authorization = `${scheme} ${value}`;
          expectJsonRefusal(await post('/auth/token', 'grant_type=authorization_code', { authorization }));
        },
      ),
      RUNS,
    );
  });

  test.each(['/auth/token', '/auth/revoke', '/auth/introspect'])(
    'is refused at %s, and breaks nothing, with any bytes for a body',
    async (path) => {
      const types = fc.constantFrom(FORM, 'application/json');
      await fc.assert(
        fc.asyncProperty(
          fc.oneof(bytes, written.map(Buffer.from), fc.json().map(Buffer.from)),
          types,
          async (body, type) => {
            expectJsonRefusal(await post(path, body, { 'content-type': type }));
          },
        ),
        RUNS,
      );
    },
  );

  test('is refused with any JSON for the value of any field', async () => {
    const fields = [
      'grant_type',
      'code',
      'redirect_uri',
      'code_verifier',
      'refresh_token',
      'client_id',
      'client_secret',
      'scope',
    ];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...fields), fc.jsonValue(), async (name, value) => {
        const grant = { grant_type: 'refresh_token', refresh_token: 'x', redirect_uri: 'x', code: 'x' };
        const body = JSON.stringify({ ...credentialsOf(attacked.portal), ...grant, [name]: value });
        expectJsonRefusal(await post('/auth/token', body, { 'content-type': 'application/json' }));
      }),
      RUNS,
    );
  });
});

test('a page is shown or refused, and breaks nothing, with any query and any cookie', async () => {
  const paths = fc.constantFrom(
    'sign-in',
    'choose-context',
    'consent',
    'set-password',
    'verify-email',
    'change-email',
    'sign-out',
    'logout',
    'signed-out',
  );
  const cookie = written.map((text) => `integration_session_demo=${text}`);
  await fc.assert(
    fc.asyncProperty(paths, written, cookie, async (path, query, header) => {
      const answer = await exchange(attacked.port, `/auth/${path}?${query}`, { headers: { cookie: header } });
      expect([200, 303, 400]).toContain(answer.status);
      expect(answer.headers.location ?? '/auth/').toMatch(/^\/auth\//);
    }),
    RUNS,
  );
});
