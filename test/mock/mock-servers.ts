import { contractDocument } from '../support/contract/contract-document.js';
import { type LogTarget, newPrismServer, operationsOf, type PrismServer } from '../support/contract/prism.js';

export const HOST = '127.0.0.1';

/** What the examples of the documents call the servers. */
const DOCUMENTED = { gateway: 'https://gateway.example.com', 'sign-on': 'https://sign-on.example.com' };

export type MockName = keyof typeof DOCUMENTED;
export type MockPorts = Readonly<Record<MockName, number>>;

export const mockNames = Object.keys(DOCUMENTED) as MockName[];

/** Another process listens there. */
export class PortTaken extends Error {
  constructor(
    readonly mock: MockName,
    readonly port: number,
  ) {
    super(`Port ${port}, where the ${mock} mock would listen, is taken.`);
  }
}

export const urlOf = (ports: MockPorts, name: MockName) => `http://${HOST}:${ports[name]}`;

/** The document with the addresses of the mocks in its examples, and with lists of one page. */
export function mockedDocument(name: MockName, ports: MockPorts): object {
  const text = mockNames.reduce(
    (document, each) => document.replaceAll(DOCUMENTED[each], urlOf(ports, each)),
    JSON.stringify(contractDocument(name)),
  );
  return JSON.parse(text, withoutNextPage) as object;
}

/** Prism sends every header with an example. A list with a next page in every answer would never end. */
function withoutNextPage(key: string, value: unknown): unknown {
  return key === 'Link' ? undefined : value;
}

/** One mock, ready to be asked. Requests that break the contract are refused, as the service refuses them. */
export async function startMock(name: MockName, ports: MockPorts, log: LogTarget): Promise<PrismServer> {
  const server = newPrismServer(await operationsOf(mockedDocument(name, ports)), {
    cors: true,
    config: {
      isProxy: false,
      validateRequest: true,
      validateResponse: true,
      checkSecurity: true,
      errors: false,
      mock: { dynamic: false },
    },
    log,
  });
  try {
    await server.listen(ports[name], HOST);
  } catch (reason) {
    throw String(reason).includes('EADDRINUSE')
      ? new PortTaken(name, ports[name])
      : new Error(String(reason));
  }
  return server;
}
