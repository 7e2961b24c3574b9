import { expect } from '@jest/globals';
import type { AuthorizationParameters } from '../../../src/domain/sign-on/authorization/authorization-parameters.js';
import { authorize } from '../../../src/domain/sign-on/authorization/authorize.js';
import { cancel } from '../../../src/domain/sign-on/interaction/cancel.js';
import { chooseContext } from '../../../src/domain/sign-on/interaction/choose-context.js';
import { decideConsent } from '../../../src/domain/sign-on/interaction/consent.js';
import type { LoginContext } from '../../../src/domain/sign-on/interaction/login-contexts.js';
import { type Shown, showInteraction } from '../../../src/domain/sign-on/interaction/show-interaction.js';
import { signIn } from '../../../src/domain/sign-on/interaction/sign-in.js';
import type {
  Browser,
  BrowserStep,
  ErrorPage,
  PageName,
} from '../../../src/domain/sign-on/sessions/browser.js';
import { confirmLogout, logout } from '../../../src/domain/sign-on/sessions/logout.js';
import type { LogoutParameters } from '../../../src/domain/sign-on/sessions/logout-request.js';
import { storedHash } from '../../../src/identifiers/random-secrets.js';
import { type BrowserRig, CALLBACK, PASSWORD } from './browser-rig.js';

/** A browser as the domain sees it: it keeps the session cookie, and follows where it is told. */
export class TestBrowser {
  cookie: string | undefined;
  device: string | undefined;
  /** The `interaction` of the page it is at. */
  at = '';

  constructor(
    private readonly rig: BrowserRig,
    private readonly remoteAddress = '192.0.2.7',
  ) {}

  /** Another tab of the same browser shares the cookie as it now is. */
  get browser(): Browser {
    return {
      sessionHash: this.cookie === undefined ? undefined : storedHash(this.cookie),
      device: this.device,
      remoteAddress: this.remoteAddress,
      userAgent: 'Test browser',
      requestId: 'request-1',
    };
  }

  authorize(parameters: Partial<AuthorizationParameters> = {}): Promise<BrowserStep> {
    return this.#follow(
      authorize(this.rig.signOn, this.browser, {
        responseType: 'code',
        clientId: this.rig.applicationId,
        redirectUri: CALLBACK,
        scope: 'openid profile email',
        state: 'state-1',
        repeatedNames: [],
        ...parameters,
      }),
    );
  }

  show(page: PageName, interaction = this.at): Promise<Shown> {
    return showInteraction(this.rig.signOn, this.browser, { page, interaction });
  }

  /** What the form of the page says, which must be shown. */
  async csrfToken(page: PageName, interaction = this.at): Promise<string> {
    const shown = await this.show(page, interaction);
    if (shown.kind !== page) {
      throw new Error(`The page ${page} is not shown: ${JSON.stringify(shown)}`);
    }
    return 'csrfToken' in shown ? shown.csrfToken : 'form' in shown ? shown.form.csrfToken : '';
  }

  async signIn(
    { email }: { email: string },
    { password = PASSWORD, ...form }: { password?: string; csrfToken?: string; interaction?: string } = {},
  ): Promise<BrowserStep> {
    const interaction = form.interaction ?? this.at;
    const csrfToken = form.csrfToken ?? (await this.csrfToken('sign_in', interaction));
    return this.#follow(signIn(this.rig.signOn, this.browser, { email, password, csrfToken, interaction }));
  }

  async cancel(csrfToken?: string): Promise<BrowserStep> {
    const form = { csrfToken: csrfToken ?? (await this.csrfToken('sign_in')), interaction: this.at };
    return this.#follow(cancel(this.rig.signOn, this.browser, form));
  }

  async choose(
    { userType, clientId }: { userType?: LoginContext['userType']; clientId: string },
    csrfToken?: string,
  ): Promise<BrowserStep> {
    const form = { csrfToken: csrfToken ?? (await this.csrfToken('choose_context')), interaction: this.at };
    return this.#follow(chooseContext(this.rig.signOn, this.browser, { ...form, userType, clientId }));
  }

  async decide(approved: boolean, csrfToken?: string): Promise<BrowserStep> {
    const form = { csrfToken: csrfToken ?? (await this.csrfToken('consent')), interaction: this.at };
    return this.#follow(decideConsent(this.rig.signOn, this.browser, { ...form, approved }));
  }

  logout(parameters: Partial<LogoutParameters> = {}): Promise<BrowserStep> {
    return this.#follow(logout(this.rig.signOn, this.browser, { repeatedNames: [], ...parameters }));
  }

  async confirmLogout(csrfToken?: string): Promise<BrowserStep> {
    const form = { csrfToken: csrfToken ?? (await this.csrfToken('sign_out')), interaction: this.at };
    return this.#follow(confirmLogout(this.rig.signOn, this.browser, form));
  }

  async #follow(going: Promise<BrowserStep>): Promise<BrowserStep> {
    const step = await going;
    if (step.cookie) {
      this.cookie = step.cookie.kind === 'set' ? step.cookie.value : undefined;
    }
    this.device = step.device ?? this.device;
    if (step.kind === 'page') {
      this.at = step.interaction;
    }
    return step;
  }
}

/** Signed in by way of the rig's application. */
export async function signedInBrowser(rig: BrowserRig, person: { email: string }): Promise<TestBrowser> {
  const browser = new TestBrowser(rig);
  await browser.authorize();
  await browser.signIn(person);
  return browser;
}

/** The answer that the redirect brings the application. */
export function answerOf(step: BrowserStep): Record<string, string> {
  if (step.kind !== 'redirect') {
    throw new Error(`It leads not to the application: ${JSON.stringify(step)}`);
  }
  return Object.fromEntries(new URL(step.location).searchParams);
}

/** The same when a form brings it, to the callback of the rig. */
export function postedAnswerOf(step: BrowserStep): Record<string, string> {
  if (step.kind !== 'form_post' || step.action !== CALLBACK) {
    throw new Error(`No form leads to the application: ${JSON.stringify(step)}`);
  }
  return { ...step.fields };
}

export function codeOf(step: BrowserStep): string {
  const { code } = answerOf(step);
  if (code === undefined) {
    throw new Error(`There is no code: ${JSON.stringify(step)}`);
  }
  return code;
}

export function errorPageOf(step: BrowserStep): ErrorPage {
  if (step.kind !== 'error_page') {
    throw new Error(`It is no error page: ${JSON.stringify(step)}`);
  }
  expect(step.errorPage.message).toMatch(/^[A-Z].*\.$/);
  return step.errorPage;
}
