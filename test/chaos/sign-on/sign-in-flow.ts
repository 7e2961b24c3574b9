import { expect } from '@jest/globals';
import type { DemoFileApplication, DemoFilePerson } from '../../../src/cli/demo/demo-file.js';
import {
  type AttackedService,
  type FreshCode,
  redirectUriOf,
  type Tokens,
} from '../../attacks/attacked-service.js';
import { hiddenFields, newPkce, type UserAgent } from '../../attacks/user-agent.js';
import { eventually } from '../../support/eventually.js';
import type { Exchange } from '../../support/http-exchange.js';
import { unlessTurnedAway, untilAnswered } from '../../support/turned-away.js';
import type { PatientClient } from '../patient-client.js';
import { type Family, firstOf, refreshed, tokensIn } from './families.js';

export type Step = 'browser' | 'exchange' | 'userinfo' | 'refresh';

/** For a service of which no process is killed: it may still be too busy for a request. */
export const busyClient: Pick<PatientClient<Step>, 'ask' | 'askOnce'> = {
  ask: (_, ask) => untilAnswered(ask),
  askOnce: (_, ask) => unlessTurnedAway(ask()),
};

/** A person and an application that do as the contract advises when an answer does not come. */
export class SignInFlow {
  readonly #userAgent: UserAgent;

  constructor(
    private readonly on: AttackedService,
    private readonly client: Pick<PatientClient<Step>, 'ask' | 'askOnce'>,
    private readonly person: DemoFilePerson,
    readonly application: DemoFileApplication,
  ) {
    this.#userAgent = on.userAgent();
  }

  /** From the application's redirect to tokens that were used and renewed. */
  async run(): Promise<Family> {
    const first = await this.begin();
    const [accessToken = ''] = first.accessTokens;
    const told = await this.client.ask('userinfo', () => this.on.userinfo(accessToken));
    expect([told.status, told.body]).toEqual([200, expect.stringContaining('"sub"')]);
    // The same token again whenever the answer got lost: there is one successor.
    const ask = () => this.on.refresh(this.application, first.refreshToken);
    return refreshed(first, tokensIn(await this.client.ask('refresh', ask)));
  }

  /** From the application's redirect to its first tokens, begun again as often as it takes. */
  async begin(): Promise<Family> {
    return firstOf(this, await eventually('tokens', () => this.#tokens()));
  }

  /** A code, after as many new beginnings as it takes. */
  code(): Promise<FreshCode> {
    return eventually('a code', () => this.#codeOfOneTry());
  }

  /** One try: a lost exchange is never repeated, a new sign-in is begun instead. */
  async #tokens(): Promise<Tokens | undefined> {
    const fresh = await this.code();
    const answer = await this.client.askOnce('exchange', () => this.on.redeem(fresh));
    return answer && tokensIn(answer);
  }

  async #codeOfOneTry(): Promise<FreshCode | undefined> {
    const { verifier, challenge } = newPkce();
    const target = this.on.authorizeTarget(this.application, { code_challenge: challenge });
    let answer = await this.#browse(() => this.#userAgent.open(target));
    if (answer?.body.includes('id="sign-in"')) {
      const { email, password } = this.person;
      answer = await this.#submit('/auth/sign-in', answer, { email, password });
    }
    if (answer?.body.includes('id="approve"')) {
      answer = await this.#submit('/auth/consent', answer, { decision: 'approve' });
    }
    if (!answer) {
      return undefined;
    }
    const code = new URL(answer.headers.location ?? 'about:blank').searchParams.get('code');
    if (code === null) {
      throw new Error(`No code came: ${answer.status} ${answer.headers.location} ${answer.body}`);
    }
    return { application: this.application, code, verifier, redirectUri: redirectUriOf(this.application) };
  }

  #submit(path: string, page: Exchange, fields: Record<string, string>): Promise<Exchange | undefined> {
    return this.#browse(() => this.#userAgent.submit(path, { ...hiddenFields(page), ...fields }));
  }

  #browse(ask: () => Promise<Exchange>): Promise<Exchange | undefined> {
    return this.client.askOnce('browser', ask);
  }
}
