import type { Question } from '../support/http-exchange.js';
import { basicOf, type FreshCode, redemptionOf } from './attacked-service.js';
import { changed, changing, form, refused, type TokenRequestCase } from './token-request.js';
import { encoded } from './user-agent.js';

const WITHOUT_CREDENTIALS = { client_id: undefined, client_secret: undefined };

function byHeader(fresh: FreshCode, authorization: string | string[], changes = {}): Question {
  return form(encoded(changed(fresh, { ...WITHOUT_CREDENTIALS, ...changes })), { authorization });
}

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');

const unproven = (title: string, ask: TokenRequestCase['ask'], status = 400): TokenRequestCase => ({
  title,
  ask,
  status,
  error: 'invalid_client',
});

/** Who asks cannot be told, or did not prove it. */
export const CLIENT_CASES: readonly TokenRequestCase[] = [
  refused('no application at all', changing(WITHOUT_CREDENTIALS)),
  unproven('a confidential application without its secret', changing({ client_secret: undefined })),
  unproven('an empty secret', changing({ client_secret: '' })),
  unproven('a wrong secret', changing({ client_secret: `cs_demo_${'x'.repeat(48)}` })),
  unproven('a secret of the live environment', changing({ client_secret: `cs_live_${'x'.repeat(48)}` })),
  unproven('a secret in upper case', (fresh) =>
    form(encoded(changed(fresh, { client_secret: fresh.application.clientSecret?.toUpperCase() }))),
  ),
  unproven('a secret with a space behind it', (fresh) =>
    form(encoded(changed(fresh, { client_secret: `${fresh.application.clientSecret} ` }))),
  ),
  unproven('an application that is not registered', changing({ client_id: 'app_AAAAAAAAAAAAAAAAAAAAAA' })),
  unproven('an application named __proto__', changing({ client_id: '__proto__' })),
  unproven('an application named by a piece of SQL', changing({ client_id: "' OR '1'='1" })),
  unproven('an application named by ten thousand letters', changing({ client_id: 'x'.repeat(10_000) })),
  refused('an application with a NUL behind its name', (fresh) =>
    form(encoded(changed(fresh, { client_id: `${fresh.application.clientId}\0` }))),
  ),
  refused('the secret in header and body', (fresh) =>
    form(encoded(redemptionOf(fresh)), { authorization: basicOf(fresh.application) }),
  ),
  refused('one application in the header and another in the body', (fresh) =>
    byHeader(fresh, basicOf(fresh.application), { client_id: 'app_AAAAAAAAAAAAAAAAAAAAAA' }),
  ),
  unproven(
    'two headers, both right',
    (fresh) => {
      const basic = basicOf(fresh.application);
      return byHeader(fresh, [basic, basic]);
    },
    401,
  ),
  unproven('a header of another scheme', (fresh) => byHeader(fresh, 'Digest username="x"'), 401),
  unproven(
    'a bearer token for a secret',
    (fresh) => byHeader(fresh, `Bearer ${fresh.application.clientSecret}`),
    401,
  ),
  unproven('a header without credentials', (fresh) => byHeader(fresh, 'Basic'), 401),
  unproven('a header that is no base64', (fresh) => byHeader(fresh, 'Basic !!!!'), 401),
  unproven(
    'a header with base64 behind its padding',
    (fresh) => byHeader(fresh, `${basicOf(fresh.application)}====`),
    401,
  ),
  unproven(
    'a header without a colon',
    (fresh) => byHeader(fresh, `Basic ${base64(fresh.application.clientId)}`),
    401,
  ),
  unproven(
    'a header that is no UTF-8',
    (fresh) => byHeader(fresh, `Basic ${base64(Buffer.from([0xff, 0x3a, 0xfe]))}`),
    401,
  ),
  unproven(
    'a header with a NUL',
    (fresh) => byHeader(fresh, `Basic ${base64(`${fresh.application.clientId}:\0`)}`),
    401,
  ),
  unproven(
    'a header with half an escape',
    (fresh) => byHeader(fresh, `Basic ${base64(`${fresh.application.clientId}:%4`)}`),
    401,
  ),
  unproven(
    'a header with a wrong secret',
    (fresh) => byHeader(fresh, `Basic ${base64(`${fresh.application.clientId}:x`)}`),
    401,
  ),
  unproven(
    'a header with the name of a confidential application and an empty secret',
    (fresh) => byHeader(fresh, `Basic ${base64(`${fresh.application.clientId}:`)}`),
    401,
  ),
  unproven(
    'a header with an empty name',
    (fresh) => byHeader(fresh, `Basic ${base64(`:${fresh.application.clientSecret}`)}`),
    401,
  ),
  unproven(
    'an assertion without a signature instead of a secret',
    changing({
      client_secret: undefined,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: 'eyJhbGciOiJub25lIn0.e30.',
    }),
  ),
];
