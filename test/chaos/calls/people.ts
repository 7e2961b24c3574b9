import { createHash, randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { demoApplication, signOnService } from '../../bench/subjects/sign-on-service.js';
import type { ServiceProcess } from '../../support/service-process.js';
import type { SignOnRecords } from '../sign-on/records.js';
import type { Caller, Phase, Turn } from './traffic.js';

const REFRESHES = 3;

/** A planted code, whose it is, and what came of it. */
interface Grant {
  codeHash: string;
  /** The body of the request. */
  redemption: string;
  accountId: string;
  /** By its acknowledged tokens. */
  id?: string;
  /** 1 after the acknowledged exchange, one more for each acknowledged refresh. */
  generation: number;
  /** Where the last request got no tokens. It is not repeated: a repetition would hide what the first did. */
  lostIn?: Phase;
}

interface Tokens {
  access_token: string;
  refresh_token: string;
}

interface Claims {
  sub: string;
  grant_id: string;
}

/** Callers that redeem codes, refresh and ask for userinfo, each for its own person. */
export class People {
  readonly #used: Grant[] = [];
  readonly #refreshTokens = new Set<string>();

  private constructor(
    private readonly port: number,
    private readonly unused: Iterator<Grant>,
    private readonly credentials: object,
  ) {}

  static async plant(service: ServiceProcess, codes: number): Promise<People> {
    const workplace = dirname(service.dataDir);
    const signOnPort = Number(service.settings.SIGN_ON_PORT);
    const { clientId, clientSecret, people } = demoApplication(workplace);
    const codeVerifier = randomBytes(32).toString('base64url');
    const codeChallenge = hashOf(codeVerifier);
    const signOn = signOnService(workplace, { signOnPort }, { codeVerifier, codeChallenge });
    const { variants = [] } = await signOn.codeExchanges(codes);
    const grants = variants.map(({ body: redemption = '' }, index): Grant => {
      const { code } = JSON.parse(redemption) as { code: string };
      const accountId = people[index % people.length]?.accountId ?? '';
      return { codeHash: hashOf(code), redemption, accountId, generation: 0 };
    });
    return new People(signOnPort, grants.values(), { client_id: clientId, client_secret: clientSecret });
  }

  /** Redeems a code and refreshes its tokens; then the next. */
  redeemer(): Turn {
    return async (caller) => {
      const grant = this.#next();
      let tokens = await this.#redeem(caller, grant);
      for (let refreshes = 0; refreshes < REFRESHES && tokens; refreshes += 1) {
        tokens = await this.#refresh(caller, grant, tokens.refresh_token);
      }
    };
  }

  /** Asks for userinfo with one access token. */
  userinfoReader(): Turn {
    let grant = this.#next();
    let tokens: Tokens | undefined;
    return async (caller) => {
      if (!tokens) {
        grant = grant.lostIn ? this.#next() : grant;
        tokens = await this.#redeem(caller, grant);
        return;
      }
      const headers = { authorization: `Bearer ${tokens.access_token}` };
      const { body } = await caller.ask({ port: this.port, path: '/auth/userinfo', headers });
      if (body !== undefined && (JSON.parse(body) as Claims).sub !== grant.accountId) {
        caller.fault(`userinfo of ${grant.accountId} is ${body}`);
      }
    };
  }

  /** Grants of which the database knows other than what their callers were told. */
  differences(records: SignOnRecords): string[] {
    const codes = new Map(records.codes().map((code) => [code.hash, code]));
    const grants = new Map(records.grants().map((grant) => [grant.id, grant]));
    return this.#used.flatMap(({ codeHash, id, generation, lostIn }) => {
      const code = codes.get(codeHash);
      const grant = grants.get(code?.grantId ?? '');
      const done = grant?.generation ?? 0;
      const isTold = done === generation || (lostIn?.mayBeDone === true && done === generation + 1);
      const isOwn = id === undefined || id === code?.grantId;
      const isGood = isTold && isOwn && (code?.status === 'REDEEMED') === done > 0 && !grant?.revokedAt;
      return isGood ? [] : [JSON.stringify({ generation, id, mayBeDone: lostIn?.mayBeDone, code, grant })];
    });
  }

  #next(): Grant {
    const { value, done } = this.unused.next();
    if (done) {
      throw new Error('No code is left.');
    }
    this.#used.push(value);
    return value;
  }

  #redeem(caller: Caller, grant: Grant): Promise<Tokens | undefined> {
    return this.#issue(caller, grant, grant.redemption);
  }

  #refresh(caller: Caller, grant: Grant, refreshToken: string): Promise<Tokens | undefined> {
    const fields = { ...this.credentials, grant_type: 'refresh_token', refresh_token: refreshToken };
    return this.#issue(caller, grant, JSON.stringify(fields));
  }

  async #issue(caller: Caller, grant: Grant, json: string): Promise<Tokens | undefined> {
    const { body, phase } = await caller.ask({ port: this.port, path: '/auth/token', json });
    if (body === undefined) {
      grant.lostIn = phase;
      return undefined;
    }
    const tokens = JSON.parse(body) as Tokens;
    const { sub, grant_id: grantId } = claimsOf(tokens.access_token);
    if (sub !== grant.accountId || grantId !== (grant.id ?? grantId)) {
      caller.fault(`${grant.accountId} (${grant.id}) got tokens of ${sub} (${grantId})`);
    }
    if (this.#refreshTokens.has(tokens.refresh_token)) {
      caller.fault('this refresh token was in an earlier answer');
    }
    this.#refreshTokens.add(tokens.refresh_token);
    grant.id = grantId;
    grant.generation += 1;
    return tokens;
  }
}

function claimsOf(accessToken: string): Claims {
  const [, payload = ''] = accessToken.split('.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
