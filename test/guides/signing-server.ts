import { once } from 'node:events';
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

export interface SigningServer {
  readonly issuer: string;
  /** Gives the next code an ID token with these claims, signed with its key or another one of the same id. */
  gives(claims: JWTPayload, isForged: boolean): Promise<void>;
  stop(): void;
}

/** A sign-on server that exchanges every code for the ID token that it was given. */
export async function signingServer(port: number): Promise<SigningServer> {
  const issuer = `http://localhost:${port}`;
  const [own, foreign] = [await generateKeyPair('RS256'), await generateKeyPair('RS256')];
  const header = { kid: 'published', alg: 'RS256' };
  const key = { ...(await exportJWK(own.publicKey)), ...header, use: 'sig' };
  const tokens = { access_token: 'a', token_type: 'Bearer', expires_in: 3600, refresh_token: 'r' };
  const answers: Record<string, object> = {
    '/.well-known/openid-configuration': {
      issuer,
      authorization_endpoint: `${issuer}/auth/authorize`,
      token_endpoint: `${issuer}/auth/token`,
      userinfo_endpoint: `${issuer}/auth/userinfo`,
      jwks_uri: `${issuer}/.well-known/jwks.json`,
      response_types_supported: ['code'],
      id_token_signing_alg_values_supported: [header.alg],
      authorization_response_iss_parameter_supported: true,
    },
    '/.well-known/jwks.json': { keys: [key] },
  };
  const server = createServer((request, response) => {
    const answer = answers[request.url ?? ''];
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? {}));
  }).listen(port);
  await once(server, 'listening');
  return {
    issuer,
    gives: async (claims, isForged) => {
      const { privateKey } = isForged ? foreign : own;
      const idToken = await new SignJWT(claims).setProtectedHeader(header).sign(privateKey);
      answers['/auth/token'] = { ...tokens, scope: 'openid profile email', id_token: idToken };
      answers['/auth/userinfo'] = claims;
    },
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
