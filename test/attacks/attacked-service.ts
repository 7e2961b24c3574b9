import {
  ApplicationType,
  type CreateApplicationRequest,
} from '../../generated/proto/integration/operator/v1/applications.js';
import { OperatorServiceService } from '../../generated/proto/integration/operator/v1/operator.js';
import { SigningAlgorithm } from '../../generated/proto/integration/operator/v1/signing_keys.js';
import type { DemoFileApplication, DemoFilePerson } from '../../src/cli/demo/demo-file.js';
import { RpcChannel } from '../../src/rpc/client.js';
import { type Exchange, exchange } from '../support/http-exchange.js';
import type { ServiceProcess, StartOptions } from '../support/service-process.js';
import { untilAnswered } from '../support/turned-away.js';
import {
  encoded,
  FORM,
  type FormFields,
  hiddenFields,
  newAddress,
  newPkce,
  UserAgent,
} from './user-agent.js';

/** The tests say where they come from, as a proxy would. */
export const BEHIND_PROXY: StartOptions = { env: { TRUSTED_PROXIES: '127.0.0.1/32' } };

export interface Tokens {
  access_token: string;
  refresh_token: string;
  id_token: string;
}

/** A code with all that its redemption needs. */
export interface FreshCode {
  application: DemoFileApplication;
  code: string;
  redirectUri: string;
  verifier: string;
}

/** A running demo with its applications by what they are. */
export class AttackedService {
  readonly port: number;
  readonly issuer: string;
  /** Confidential; does without PKCE if it likes. */
  readonly portal: DemoFileApplication;
  /** Public. */
  readonly mobile: DemoFileApplication;
  /** Confidential, with PKCE required. */
  readonly shiftwise: DemoFileApplication;
  /** The same, and asks for no consent. */
  readonly dashboard: DemoFileApplication;
  readonly people: readonly DemoFilePerson[];

  constructor(readonly service: ServiceProcess) {
    const { baseUrl, applications, people } = service.demo();
    const named = (name: string) =>
      applications.find((application) => application.name === name) as DemoFileApplication;
    this.port = Number(service.settings.SIGN_ON_PORT);
    this.issuer = baseUrl;
    this.people = people;
    this.portal = named('Brightledger Portal');
    this.mobile = named('Brightledger Mobile');
    this.shiftwise = named('Shiftwise Web');
    this.dashboard = named('Harborlight Dashboard');
  }

  /** Whom a test signs in as, by the words of the demo about them. */
  person(words: string): DemoFilePerson {
    const found = this.people.find(({ note }) => note.includes(words));
    if (!found) {
      throw new Error(`The demo has no person with the note ${words}.`);
    }
    return found;
  }

  /** One more application, confidential and otherwise as the portal is. */
  async register(
    wanted: Pick<CreateApplicationRequest, 'name'> & Partial<CreateApplicationRequest>,
  ): Promise<DemoFileApplication> {
    const { operatorToken, grpcAddress } = this.service.demo();
    const channel = new RpcChannel(grpcAddress, operatorToken);
    const creation: CreateApplicationRequest = {
      type: ApplicationType.CONFIDENTIAL,
      redirectUris: this.portal.redirectUris,
      allowedScopes: [],
      allowedGrantTypes: [],
      requirePkce: false,
      firstParty: false,
      signOutEndsTokens: false,
      idTokenAlgorithm: SigningAlgorithm.UNSPECIFIED,
      postLogoutRedirectUris: [],
      ...wanted,
    };
    const made = await channel
      .clientOf(OperatorServiceService)
      .createApplication(creation, { requestId: 'registers-an-application', deadlineMs: 20_000 });
    channel.close();
    const clientId = made.application?.id ?? '';
    return { ...this.portal, clientId, clientSecret: made.clientSecret ?? '', name: wanted.name };
  }

  userAgent(address?: string): UserAgent {
    return new UserAgent(this.port, address);
  }

  /** A request that is in order; a parameter given as undefined is left out. */
  authorizeTarget(
    application: DemoFileApplication,
    changes: Readonly<Record<string, string | undefined>> = {},
  ): string {
    const parameters = {
      response_type: 'code',
      client_id: application.clientId,
      redirect_uri: redirectUriOf(application),
      scope: 'openid profile email',
      state: 'state-of-the-application',
      code_challenge: newPkce().challenge,
      code_challenge_method: 'S256',
      ...changes,
    };
    const given = Object.entries(parameters).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    return `/auth/authorize?${encoded(given)}`;
  }

  /** Asks again where the service is too busy. */
  open(userAgent: UserAgent, target: string): Promise<Exchange> {
    return untilAnswered(() => userAgent.open(target));
  }

  /** At the sign-in page. */
  async signInPage(userAgent: UserAgent, application = this.dashboard): Promise<Record<string, string>> {
    return hiddenFields(await this.open(userAgent, this.authorizeTarget(application)));
  }

  async signIn(userAgent: UserAgent, { email, password }: DemoFilePerson): Promise<Exchange> {
    const hidden = await this.signInPage(userAgent);
    return userAgent.submit('/auth/sign-in', { ...hidden, email, password });
  }

  async signedIn(words = 'no access to Juniper'): Promise<UserAgent> {
    const userAgent = this.userAgent();
    const answer = await untilAnswered(() => this.signIn(userAgent, this.person(words)));
    if (answer.status >= 400) {
      throw new Error(`The sign-in failed: ${answer.status} ${answer.body}`);
    }
    return userAgent;
  }

  /** For a signed-in browser; approves the consent page. */
  async freshCode(
    userAgent: UserAgent,
    application: DemoFileApplication,
    changes: Readonly<Record<string, string | undefined>> = {},
  ): Promise<FreshCode> {
    const { verifier, challenge } = newPkce();
    const target = this.authorizeTarget(application, { code_challenge: challenge, ...changes });
    const answer = await untilAnswered(async () => {
      const page = await userAgent.open(target);
      return page.body.includes('id="approve"')
        ? userAgent.submit('/auth/consent', { ...hiddenFields(page), decision: 'approve' })
        : page;
    });
    const code = new URL(answer.headers.location ?? 'about:blank').searchParams.get('code');
    if (code === null) {
      throw new Error(`No code came: ${answer.status} ${answer.headers.location} ${answer.body}`);
    }
    return { application, code, verifier, redirectUri: changes.redirect_uri ?? redirectUriOf(application) };
  }

  /** Calls as a program, from an unused address. */
  call(
    path: string,
    fields: FormFields,
    headers: Readonly<Record<string, string | string[] | undefined>> = {},
  ): Promise<Exchange> {
    const own = { 'content-type': FORM, 'x-forwarded-for': newAddress() };
    return exchange(this.port, path, {
      method: 'POST',
      headers: { ...own, ...headers },
      body: encoded(fields),
    });
  }

  redeem(fresh: FreshCode, changes: Readonly<Record<string, string>> = {}): Promise<Exchange> {
    return this.call('/auth/token', { ...redemptionOf(fresh), ...changes });
  }

  async tokens(userAgent: UserAgent, application: DemoFileApplication): Promise<Tokens> {
    // Each time with a new code: the answer to the redemption of the one before may be lost.
    const answer = await untilAnswered(async () => this.redeem(await this.freshCode(userAgent, application)));
    if (answer.status !== 200) {
      throw new Error(`No tokens came: ${answer.status} ${answer.body}`);
    }
    return JSON.parse(answer.body) as Tokens;
  }

  refresh(application: DemoFileApplication, refreshToken: string): Promise<Exchange> {
    const fields = {
      ...credentialsOf(application),
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
    };
    return this.call('/auth/token', fields);
  }

  userinfo(accessToken: string): Promise<Exchange> {
    const headers = { authorization: `Bearer ${accessToken}`, 'x-forwarded-for': newAddress() };
    return exchange(this.port, '/auth/userinfo', { headers });
  }

  async introspect(application: DemoFileApplication, token: string): Promise<Record<string, unknown>> {
    const answer = await this.call('/auth/introspect', { ...credentialsOf(application), token });
    return JSON.parse(answer.body) as Record<string, unknown>;
  }
}

/** Of the instance that most of the demo's people belong to. */
export function redirectUriOf({ redirectUris }: DemoFileApplication, index = 0): string {
  return redirectUris[index]?.uri ?? '';
}

export function credentialsOf({ clientId, clientSecret }: DemoFileApplication): Record<string, string> {
  return { client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) };
}

export function redemptionOf({
  application,
  code,
  redirectUri,
  verifier,
}: FreshCode): Record<string, string> {
  return {
    ...credentialsOf(application),
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  };
}

export function basicOf({ clientId, clientSecret = '' }: DemoFileApplication): string {
  return `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
}
