import { type Answer, json, type ScriptedServer } from './scripted-server.js';

/** What an application keeps while the browser is away. */
export const kept = { state: 'state-1', nonce: 'nonce-1', codeVerifier: 'v'.repeat(43) };

export function settingsFor(server: ScriptedServer) {
  return {
    issuer: server.url,
    clientId: 'app_1',
    clientSecret: 'cs_demo_1',
    redirectUri: 'https://app.example.com/callback',
    retry: { baseDelayMs: 1 },
  };
}

/** Where the browser comes back to, with what the server gave it on its way. */
export function callbackFrom(server: ScriptedServer, query: Record<string, string>): string {
  const parameters = new URLSearchParams({ state: 'state-1', iss: server.url, ...query });
  return `https://app.example.com/callback?${parameters}`;
}

export function refusal(error: string, status = 400): Answer {
  return json({ error, error_description: 'No.' }, {}, status);
}

export function tokens(more: object = {}): Answer {
  const usual = {
    access_token: 'at',
    token_type: 'Bearer',
    expires_in: 3600,
    refresh_token: 'rt-2',
    scope: 'profile',
  };
  return json({ ...usual, ...more });
}
