import { describe, expect, test } from '@jest/globals';
import { openGatewayApi } from '../../support/contract/contract-api.js';
import { contractDocument } from '../../support/contract/contract-document.js';

const named = (what: string) => `The API "Integration Gateway" cannot be served: ${what}.`;

describe('the boot refuses', () => {
  const schemes = Object.keys(contractDocument('sign-on').components?.securitySchemes ?? {});
  test.each(schemes)('without the security handler %s of the sign-on server', async (scheme) => {
    const others = Object.fromEntries(schemes.filter((name) => name !== scheme).map((name) => [name, yes]));
    const opening = openGatewayApi({ document: contractDocument('sign-on'), securityHandlers: others });
    await expect(opening).rejects.toThrow(`cannot be served: no security handler ${scheme}.`);
  });

  test('without the security handler of the gateway', async () => {
    const opening = openGatewayApi({ securityHandlers: {} });
    await expect(opening).rejects.toThrow(named('no security handler apiKey'));
  });

  test('a security handler of no scheme', async () => {
    const opening = openGatewayApi({ securityHandlers: { apiKey: yes, apiKeyy: yes } });
    await expect(opening).rejects.toThrow(named('the security handler apiKeyy belongs to no scheme'));
  });

  test.each(['listIntegrations', 'ListClients', 'notFound', 'preOperationHandler', 'constructor'])(
    'the handler %s, which is of no operation',
    async (name) => {
      const opening = openGatewayApi({ handlers: { [name]: async () => undefined } });
      await expect(opening).rejects.toThrow(named(`the handler ${name} belongs to no operation`));
    },
  );

  test('a handler that does not exist after all', async () => {
    const opening = openGatewayApi({ handlers: { listClients: undefined as never } });
    await expect(opening).rejects.toThrow(named('no handler listClients'));
  });

  test('everything at once, in one sentence', async () => {
    const opening = openGatewayApi({ securityHandlers: {}, handlers: { x: async () => 1 } });
    await expect(opening).rejects.toThrow(
      named('no security handler apiKey; the handler x belongs to no operation'),
    );
  });
});

test('complete, it opens', async () => {
  await expect(openGatewayApi()).resolves.toBeInstanceOf(Function);
});

function yes(): boolean {
  return true;
}
