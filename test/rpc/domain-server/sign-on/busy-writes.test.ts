import { expect, test } from '@jest/globals';
import type { TokenIssuer } from '../../../../src/domain/sign-on/sign-on.js';
import { ErrorCode } from '../../../../src/errors/service-error.js';
import { signOnService } from '../../../../src/rpc/domain-server/sign-on/index.js';
import type { CallContext } from '../../../../src/rpc/handlers.js';
import { tooMany } from '../../../../src/store/dialects/turns.js';
import {
  type BrowserRig,
  browserRig,
  CALLBACK,
  newPerson,
  PASSWORD,
} from '../../../domain/sign-on/browser-rig.js';
import { signedInBrowser, TestBrowser } from '../../../domain/sign-on/test-browser.js';
import { databaseUnderTest } from '../../../support/databases.js';

const under = databaseUnderTest('SQLite');
const CONTEXT: CallContext = {
  ...{ requestId: 'req-1', identity: { caller: 'edge' }, remoteAddress: undefined, isCancelled: false },
  signal: new AbortController().signal,
};

/** The methods of sign-on, where too many writes about the same data wait after the first ones. */
function busyAfter(rig: BrowserRig, writes: number) {
  const { unitOfWork } = rig.signOn;
  let left = writes;
  const run: typeof unitOfWork.run = (...work) => {
    left -= 1;
    return left < 0 ? Promise.reject(tooMany()) : unitOfWork.run(...work);
  };
  return signOnService({ ...rig.signOn, unitOfWork: { ...unitOfWork, run } } as TokenIssuer).handlers;
}

function sentBy({ browser: { sessionHash = '', remoteAddress, userAgent } }: TestBrowser) {
  return { sessionHash: Buffer.from(sessionHash, 'base64url'), remoteAddress, userAgent };
}

test.each([
  ['its guess is counted', 0],
  ['its password was right', 1],
])(
  'a sign-in that waits behind too many other writes when %s can be repeated, and is no guess too many',
  async (_, writes) => {
    const rig = await browserRig(under);
    const { email } = await newPerson(rig, [rig.here.clientId]);
    const page = new TestBrowser(rig);
    await page.authorize();
    const form = { browser: sentBy(page), interaction: page.at, email, password: PASSWORD };
    const csrfToken = await page.csrfToken('sign_in');
    const asked = busyAfter(rig, writes).signIn?.({ ...form, csrfToken }, CONTEXT);
    await expect(asked).rejects.toMatchObject({ code: ErrorCode.UNAVAILABLE, retryAfterSeconds: 1 });
  },
);

test('too many guesses keep their own refusal', async () => {
  const rig = await browserRig(under);
  const page = new TestBrowser(rig);
  await page.authorize();
  const form = { browser: sentBy(page), interaction: page.at, email: 'nobody@example.com', password: 'no' };
  const csrfToken = await page.csrfToken('sign_in');
  const { signIn } = signOnService(rig.signOn as TokenIssuer).handlers;
  for (let time = 0; time < 10; time += 1) {
    await signIn?.({ ...form, csrfToken }, CONTEXT);
  }
  await expect(signIn?.({ ...form, csrfToken }, CONTEXT)).rejects.toMatchObject({
    code: ErrorCode.RATE_LIMITED,
  });
});

test('a silent authorization that waits behind too many other writes is told to the application', async () => {
  const rig = await browserRig(under);
  const page = await signedInBrowser(rig, await newPerson(rig, [rig.here.clientId]));
  const request = { responseType: 'code', scope: 'openid', prompt: 'none', redirectUri: CALLBACK };
  const parameters = { ...request, clientId: rig.applicationId, repeatedNames: [] };
  const answer = await busyAfter(rig, 0).authorize?.({ browser: sentBy(page), parameters }, CONTEXT);
  expect(JSON.stringify(answer)).toContain('error=temporarily_unavailable');
});
