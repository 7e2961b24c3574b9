import { expect, test } from '@jest/globals';
import { makeLink } from '../../../../src/domain/credentials/links.js';
import type { SignOnUnitOfWork, TokenIssuer } from '../../../../src/domain/sign-on/sign-on.js';
import type { WriteOrigin } from '../../../../src/domain/unit-of-work.js';
import { hashSecret } from '../../../../src/identifiers/random-secrets.js';
import { signOnService } from '../../../../src/rpc/domain-server/sign-on/index.js';
import { browserRig, newPerson, PASSWORD } from '../../../domain/sign-on/browser-rig.js';
import { TestBrowser } from '../../../domain/sign-on/test-browser.js';
import { databaseUnderTest } from '../../../support/databases.js';

const under = databaseUnderTest('SQLite');

test('a write of signing on is made for as long as its caller is there', async () => {
  const origins: (WriteOrigin | undefined)[] = [];
  const run: SignOnUnitOfWork['run'] = (_work, origin) => {
    origins.push(origin);
    return Promise.reject(new Error('It is seen.'));
  };
  const rig = await browserRig(under);
  const { accountId: id, email } = await newPerson(rig, [rig.here.clientId]);
  const { token } = await rig.run((changes) =>
    makeLink(changes, { id, email }, { purpose: 'verify_email', lifetimeSeconds: 60 }),
  );
  const unitOfWork = { ...rig.signOn.unitOfWork, run };
  const { handlers } = signOnService({ ...rig.signOn, unitOfWork } as TokenIssuer);
  const { signal } = new AbortController();
  const browser = { sessionHash: undefined, remoteAddress: '', userAgent: '' };
  const asked = handlers.redeemEmailLink?.(
    { browser, linkTokenHash: hashSecret(token) },
    {
      ...{ requestId: 'req-1', identity: { caller: 'edge' } },
      ...{ remoteAddress: undefined, isCancelled: false, signal },
    },
  );
  await expect(asked).rejects.toThrow('It is seen.');
  expect(origins).toEqual([{ signal, requestId: 'req-1' }]);
});

test('a right password does not count as a guess, although its caller has left', async () => {
  const rig = await browserRig(under);
  const { email } = await newPerson(rig, [rig.here.clientId]);
  const { handlers } = signOnService(rig.signOn as TokenIssuer);
  const page = new TestBrowser(rig);
  await page.authorize();
  const { sessionHash = '', remoteAddress, userAgent } = page.browser;
  const browser = { sessionHash: Buffer.from(sessionHash, 'base64url'), remoteAddress, userAgent };
  const csrfToken = await page.csrfToken('sign_in');
  const caller = new AbortController();
  rig.passwords.meanwhile = async () => caller.abort();
  const asked = handlers.signIn?.(
    { browser, interaction: page.at, csrfToken, email, password: PASSWORD },
    {
      ...{ requestId: 'req-1', identity: { caller: 'edge' } },
      ...{ remoteAddress: undefined, isCancelled: false, signal: caller.signal },
    },
  );
  await expect(asked).rejects.toThrow();
  const counts = await rig.database.reader.selectFrom('attempt_counts').select('count').execute();
  expect(counts).toEqual([{ count: 0 }, { count: 0 }]);
});
