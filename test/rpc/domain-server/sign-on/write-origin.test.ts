import { expect, test } from '@jest/globals';
import type { TokenIssuer } from '../../../../src/domain/sign-on/sign-on.js';
import type { SignOnUnitOfWork } from '../../../../src/domain/sign-on/unit-of-work.js';
import type { WriteOrigin } from '../../../../src/domain/unit-of-work.js';
import { signOnService } from '../../../../src/rpc/domain-server/sign-on/index.js';

test('a write of signing on is made for as long as its caller is there', async () => {
  const origins: (WriteOrigin | undefined)[] = [];
  const run: SignOnUnitOfWork['run'] = (_work, origin) => {
    origins.push(origin);
    return Promise.reject(new Error('It is seen.'));
  };
  const { handlers } = signOnService({ unitOfWork: { run } } as unknown as TokenIssuer);
  const { signal } = new AbortController();
  const browser = { sessionHash: undefined, remoteAddress: '', userAgent: '' };
  const asked = handlers.redeemEmailLink?.(
    { browser, linkTokenHash: new Uint8Array(32) },
    {
      ...{ requestId: 'req-1', identity: { caller: 'edge' } },
      ...{ remoteAddress: undefined, isCancelled: false, signal },
    },
  );
  await expect(asked).rejects.toThrow('It is seen.');
  expect(origins).toEqual([{ signal, requestId: 'req-1' }]);
});
