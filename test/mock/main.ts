/** What `make mock` runs: both mocks, until Ctrl-C. */
import type { MockName, MockPorts, PortTaken } from './mock-servers.js';
import { requestLines } from './request-lines.js';

const SETTINGS = { gateway: 'MOCK_GATEWAY_PORT', 'sign-on': 'MOCK_SIGN_ON_PORT' } as const;
const USUAL: MockPorts = { gateway: 4010, 'sign-on': 4011 };

const say = (line: string) => process.stdout.write(`${line}\n`);

function end(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

function portOf(name: MockName): number {
  const given = process.env[SETTINGS[name]];
  if (given === undefined || given === '') {
    return USUAL[name];
  }
  const port = Number(given);
  return /^\d+$/.test(given) && port > 0 && port < 65_536
    ? port
    : end(`${SETTINGS[name]} must be a port, a number from 1 to 65535; it is "${given}".`);
}

function sayTakenOf({ mock, message }: PortTaken): never {
  return end(`${message} Choose another: ${SETTINGS[mock]}=14010 make mock`);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => process.exit(0));
}

const ports: MockPorts = { gateway: portOf('gateway'), 'sign-on': portOf('sign-on') };
if (ports.gateway === ports['sign-on']) {
  end(`The mocks need two ports; both were given ${ports.gateway}.`);
}
say('Reading the documents...');
// Imported only here: it loads Prism, which takes long, and wrong ports are refused at once.
const { HOST, mockNames, PortTaken: Taken, startMock, urlOf } = await import('./mock-servers.js');
for (const name of mockNames) {
  await startMock(name, ports, requestLines(name, say)).catch((reason) =>
    reason instanceof Taken ? sayTakenOf(reason) : end(String(reason)),
  );
}

const gatewayUrl = urlOf(ports, 'gateway');
say(`
  Gateway   ${gatewayUrl}
  Sign-on   ${urlOf(ports, 'sign-on')}

  They answer on ${HOST} with the examples of the contract, and refuse what the contract refuses. Any API key will do. Try:

    curl -H 'x-api-key: any' ${gatewayUrl}/v1/instance-integrations
    curl -H 'x-api-key: any' -H 'prefer: code=429' ${gatewayUrl}/v1/instance-integrations
    curl ${urlOf(ports, 'sign-on')}/.well-known/openid-configuration

  Requests are listed here. Ctrl-C ends both.
`);
