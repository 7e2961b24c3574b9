import { redemptionOf } from './attacked-service.js';
import { json } from './body-cases.js';
import { changed, changing, form, type TokenRequestCase } from './token-request.js';
import { encoded } from './user-agent.js';

const invalidGrant = (title: string, ask: TokenRequestCase['ask']): TokenRequestCase => ({
  title,
  ask,
  status: 400,
  error: 'invalid_grant',
});

/** The application is proven, and the code is not good for what it asks. */
export const GRANT_CASES: readonly TokenRequestCase[] = [
  invalidGrant('a code that was never issued', changing({ code: 'A'.repeat(43) })),
  invalidGrant('a code with a letter behind it', (fresh) =>
    form(encoded(changed(fresh, { code: `${fresh.code}A` }))),
  ),
  invalidGrant('a code of ten thousand letters', changing({ code: 'A'.repeat(10_000) })),
  invalidGrant('a code that is __proto__', changing({ code: '__proto__' })),
  invalidGrant('another redirect URI of the same application', (fresh) =>
    form(encoded(changed(fresh, { redirect_uri: fresh.application.redirectUris[1]?.uri }))),
  ),
  invalidGrant(
    'a redirect URI of another application',
    changing({ redirect_uri: 'https://evil.example/callback' }),
  ),
  invalidGrant('a redirect URI with a slash behind it', (fresh) =>
    form(encoded(changed(fresh, { redirect_uri: `${fresh.redirectUri}/` }))),
  ),
  invalidGrant('no verifier where there was a challenge', changing({ code_verifier: undefined })),
  invalidGrant('an empty verifier', changing({ code_verifier: '' })),
  invalidGrant('a verifier that is null', (fresh) =>
    json(JSON.stringify({ ...redemptionOf(fresh), code_verifier: null })),
  ),
  invalidGrant('another verifier', changing({ code_verifier: 'a'.repeat(43) })),
  invalidGrant('the verifier in upper case', (fresh) =>
    form(
      encoded(
        changed(fresh, { code_verifier: fresh.verifier.replace(/[a-z]/g, (letter) => letter.toUpperCase()) }),
      ),
    ),
  ),
  invalidGrant('the code for a refresh token', (fresh) =>
    form(encoded(changed(fresh, { grant_type: 'refresh_token', refresh_token: fresh.code }))),
  ),
];
