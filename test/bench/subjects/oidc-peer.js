/**
 * The peer of the sign-on server: npm oidc-provider over better-sqlite3 with our durability. Arguments:
 * database file, port. POST /bench/… makes the state after a sign-in, so that only endpoints for programs are
 * measured.
 */
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import Provider from 'oidc-provider';

// As src/store/better-sqlite3.ts: the version that this Node can run.
const { default: Database } = await import(
  process.versions.napi >= 10 ? 'better-sqlite3-napi' : 'better-sqlite3'
);
const [file, port] = process.argv.slice(2);
const LIFETIME_SECONDS = 3_600;
const SCOPE = 'openid profile email offline_access';
const REDIRECT_URI = 'https://app.example.com/callback';

const database = new Database(file);
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.pragma('cache_size = -16000');
database.exec(`
  CREATE TABLE IF NOT EXISTS models (id TEXT PRIMARY KEY, payload TEXT, grant_id TEXT, uid TEXT, consumed_at INTEGER, expires_at INTEGER);
  CREATE INDEX IF NOT EXISTS models_by_grant ON models (grant_id) WHERE grant_id IS NOT NULL;
  CREATE INDEX IF NOT EXISTS models_by_uid ON models (uid) WHERE uid IS NOT NULL;
  CREATE TABLE IF NOT EXISTS accounts (id TEXT PRIMARY KEY, email TEXT, first_name TEXT, last_name TEXT);
  INSERT OR IGNORE INTO accounts VALUES ('acc_1', 'maria.keller@example.com', 'Maria', 'Keller');`);

const upsert = database.prepare(`
  INSERT INTO models (id, payload, grant_id, uid, expires_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at`);
const find = database.prepare(
  'SELECT payload, consumed_at AS consumedAt, expires_at AS expiresAt FROM models WHERE id = ?',
);
const findByUid = database.prepare(
  'SELECT payload, consumed_at AS consumedAt, expires_at AS expiresAt FROM models WHERE uid = ?',
);
const consume = database.prepare('UPDATE models SET consumed_at = ? WHERE id = ?');
const destroy = database.prepare('DELETE FROM models WHERE id = ?');
const revokeByGrant = database.prepare('DELETE FROM models WHERE grant_id = ?');
const findAccount = database.prepare('SELECT * FROM accounts WHERE id = ?');

const now = () => Math.floor(Date.now() / 1_000);

class Adapter {
  constructor(name) {
    this.name = name;
  }

  #key(id) {
    return `${this.name}:${id}`;
  }

  async upsert(id, payload, expiresIn) {
    upsert.run(
      this.#key(id),
      JSON.stringify(payload),
      payload.grantId ?? null,
      payload.uid ?? null,
      now() + (expiresIn ?? LIFETIME_SECONDS),
    );
  }

  async find(id) {
    return this.#payloadOf(find.get(this.#key(id)));
  }

  async findByUid(uid) {
    return this.#payloadOf(findByUid.get(uid));
  }

  async consume(id) {
    consume.run(now(), this.#key(id));
  }

  async destroy(id) {
    destroy.run(this.#key(id));
  }

  async revokeByGrantId(grantId) {
    revokeByGrant.run(grantId);
  }

  #payloadOf(row) {
    if (!row || row.expiresAt <= now()) {
      return undefined;
    }
    const payload = JSON.parse(row.payload);
    return row.consumedAt ? { ...payload, consumed: row.consumedAt } : payload;
  }
}

const jwks = {
  keys: await Promise.all([privateJwk('RS256', { modulusLength: 2_048 }), privateJwk('ES256')]),
};

async function privateJwk(alg, options = {}) {
  const { privateKey } = await generateKeyPair(alg, { ...options, extractable: true });
  return { ...(await exportJWK(privateKey)), alg, use: 'sig', kid: alg };
}

const clientOf = (alg) => ({
  client_id: `client-${alg}`,
  client_secret: 'a-secret-that-is-long-enough-for-a-benchmark',
  redirect_uris: [REDIRECT_URI],
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'client_secret_post',
  id_token_signed_response_alg: alg,
});

const provider = new Provider(`http://127.0.0.1:${port}`, {
  adapter: Adapter,
  clients: [clientOf('RS256'), clientOf('ES256')],
  jwks,
  cookies: { keys: ['a-key-that-is-not-used-here'] },
  claims: { openid: ['sub'], profile: ['name', 'firstName', 'lastName'], email: ['email', 'email_verified'] },
  conformIdTokenClaims: false,
  features: { devInteractions: { enabled: false } },
  issueRefreshToken: () => true,
  rotateRefreshToken: () => true,
  ttl: {
    AccessToken: LIFETIME_SECONDS,
    IdToken: LIFETIME_SECONDS,
    RefreshToken: 30 * 86_400,
    AuthorizationCode: 600,
    Grant: 30 * 86_400,
  },
  findAccount: (_, id) => {
    const row = findAccount.get(id);
    const claims = () => ({
      sub: id,
      name: `${row.first_name} ${row.last_name}`,
      firstName: row.first_name,
      lastName: row.last_name,
      email: row.email,
      email_verified: true,
    });
    return row && { accountId: id, claims };
  },
});

/** As many as asked for, in one transaction. */
async function make(kind, count, { clientId, codeChallenge }) {
  const client = await provider.Client.find(clientId);
  database.exec('BEGIN IMMEDIATE');
  const made = [];
  for (let index = 0; index < count; index += 1) {
    const grant = new provider.Grant({ accountId: 'acc_1', clientId });
    grant.addOIDCScope(SCOPE);
    const grantId = await grant.save();
    const common = {
      accountId: 'acc_1',
      client,
      grantId,
      scope: SCOPE,
      gty: 'authorization_code',
      authTime: now(),
    };
    const model = {
      code: () =>
        new provider.AuthorizationCode({
          ...common,
          redirectUri: REDIRECT_URI,
          codeChallenge,
          codeChallengeMethod: 'S256',
          nonce: 'n-0S6_WzA2MjrJ8kQe',
        }),
      refresh: () => new provider.RefreshToken({ ...common, rotations: 0, iiat: now() }),
      access: () => new provider.AccessToken(common),
    }[kind]();
    made.push(await model.save());
  }
  database.exec('COMMIT');
  return made;
}

const answer = provider.callback();
createServer(async (request, response) => {
  const url = new URL(request.url, 'http://127.0.0.1');
  if (!url.pathname.startsWith('/bench/')) {
    return answer(request, response);
  }
  const made = await make(
    url.pathname.slice('/bench/'.length),
    Number(url.searchParams.get('count')),
    Object.fromEntries(url.searchParams),
  );
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(made));
}).listen(Number(port), '127.0.0.1');
