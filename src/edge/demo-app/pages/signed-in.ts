import { operations } from '../../../../generated/openapi/sign-on-operations.js';
import { type Html, html } from '../../pages/html.js';
import { icons } from '../../pages/icons.js';
import type { Exchange, Tokens } from '../sign-on-client.js';
import { code, framed } from './frame.js';

const TIMES: ReadonlySet<string> = new Set(['iat', 'exp', 'auth_time']);
/** Enough of a token to recognize it. */
const PREVIEW_LENGTH = 18;

interface SignedIn {
  signOnUrl: string;
  docsUrl: string;
  instanceName: string;
  exchange: Exchange;
  tokens: Tokens;
  claims: Readonly<Record<string, unknown>>;
  userinfo: Readonly<Record<string, unknown>>;
  /** Ends the session, and comes back. */
  signOutUrl: string;
  /** Asks for another account. */
  otherPersonUrl: string;
}

/** What an application has after a sign-in, and the calls that use it. */
export function signedInPage(signedIn: SignedIn): string {
  const { signOnUrl, docsUrl, instanceName, exchange, tokens, claims, userinfo } = signedIn;
  const { accessToken, idToken, refreshToken, expiresInSeconds } = tokens;
  const body = html`<div class="badge good">${icons.done}</div>
<h1>Signed in as <bdi>${String(claims.name ?? claims.sub)}</bdi></h1>
<p class="lead">on <strong>${instanceName}</strong>. The code in the address of this page has been exchanged for three tokens.</p>
<h2>Use the access token</h2>
<p class="note">Paste this in a terminal:</p>
${code('The call of userinfo', userinfoCall(signOnUrl, accessToken))}
<p class="note">It answers:</p>
${code('Its answer', JSON.stringify(userinfo, null, 2))}
<h2>Claims of the ID token</h2>
<dl class="claims">${Object.entries(claims).map(([name, value]) => claim(name, value))}</dl>
<h2>Tokens</h2>
${token('Access token', `for ${Math.round(expiresInSeconds / 60)} minutes`, accessToken)}
${token('ID token', 'a signed statement of who signed in', idToken)}
${token('Refresh token', 'for the next access token', refreshToken)}
<h2>Get the next access token</h2>
<p class="note">A refresh token works once; each answer has the next one.</p>
${code('The call for the next access token', refreshCall(signOnUrl, exchange, refreshToken))}
<h2>How the code was exchanged</h2>
<p class="note">This page has sent the call below. A code works once: sending it again revokes the tokens above.</p>
${code('The call that exchanged the code', exchangeCall(signOnUrl, exchange))}
<div class="next">
<a class="button" id="sign-out" href="${signedIn.signOutUrl}">Sign out</a>
<a class="button quiet" id="other-person" href="${signedIn.otherPersonUrl}">Sign in as another person</a>
</div>
<p class="note">How to do this in your application: <a href="${docsUrl}/sign-in">the guide, with code in three languages</a>.</p>`;
  return framed('Signed in', body);
}

function claim(name: string, value: unknown): Html {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const time = TIMES.has(name) && new Date(Number(value) * 1_000).toISOString().replace('.000Z', 'Z');
  return html`<div><dt>${name}</dt><dd>${text}${time && html`<span>${time}</span>`}</dd></div>`;
}

function token(name: string, about: string, value: string): Html {
  return html`<details><summary><b>${name}</b> <span>${about} · ${value.slice(0, PREVIEW_LENGTH)}…</span></summary>${code(name, value)}</details>`;
}

function userinfoCall(signOnUrl: string, accessToken: string): string {
  return `curl -s ${signOnUrl}${operations.userinfo.path} \\\n  -H 'Authorization: Bearer ${accessToken}'`;
}

function refreshCall(signOnUrl: string, exchange: Exchange, refreshToken: string): string {
  return `${tokenCall(signOnUrl, exchange)} \\\n  -d grant_type=refresh_token \\\n  -d refresh_token=${refreshToken}`;
}

function exchangeCall(signOnUrl: string, exchange: Exchange): string {
  const { redirectUri, codeVerifier, code: given } = exchange;
  return [
    tokenCall(signOnUrl, exchange),
    '  -d grant_type=authorization_code',
    `  -d redirect_uri=${redirectUri}`,
    `  -d code_verifier=${codeVerifier}`,
    `  -d code=${given}`,
  ].join(' \\\n');
}

function tokenCall(signOnUrl: string, { clientId, clientSecret }: Exchange): string {
  return `curl -s ${signOnUrl}${operations.token.path} \\\n  -u '${clientId}:${clientSecret}'`;
}
