import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterEach, describe, expect, test } from '@jest/globals';
import { DirectoryServiceService } from '../../generated/proto/integration/directory/v1/directory.js';
import { ErrorCode } from '../../src/errors/service-error.js';
import { CertificateFiles, type TlsFiles } from '../../src/rpc/certificate-files.js';
import { RpcChannel } from '../../src/rpc/client.js';
import { clientCredentials, serverCredentials } from '../../src/rpc/connect.js';
import { serve } from '../../src/rpc/handlers.js';
import { recordedLog } from '../support/recorded-log.js';
import { type Issued, newAuthority, selfSignedCertificate } from '../support/self-signed-certificate.js';
import { signalled } from '../support/signalled.js';
import { refusalOf, rpcRigs, TOKENS } from './rig.js';

const REQUEST = { read: undefined, rest: undefined };
const OPTIONS = { requestId: 'r', deadlineMs: 20_000 };
const ANSWER = { body: Buffer.from('[]'), nextCursor: 'page' };

describe('a port on which clients prove themselves', () => {
  const rigs = rpcRigs();
  const channels: RpcChannel[] = [];
  let ending = new AbortController();
  afterEach(() => {
    ending.abort();
    ending = new AbortController();
    for (const channel of channels.splice(0)) {
      channel.close();
    }
  });

  /** One end: its files, how they are replaced, and a promise that the new ones are in use. */
  function end(first: Partial<Issued>, ca: string) {
    const directory = rigs.directory();
    const { log, nextLine, lines } = recordedLog();
    const write = (name: string, text: string) => {
      writeFileSync(join(directory, name), text);
      return join(directory, name);
    };
    const replace = ({ certificate, key }: Partial<Issued>, authority: string): TlsFiles => ({
      certFile: certificate && write('tls.crt', certificate),
      keyFile: key && write('tls.key', key),
      caFile: write('ca.crt', authority),
    });
    const files = new CertificateFiles(replace(first, ca));
    void files.watch({ log, ending: ending.signal, lookEveryMs: 1 });
    const told = (what: RegExp) => nextLine(({ msg }) => what.test(msg));
    return { files, replace, lines, inUse: () => told(/are in use$/), refused: () => told(/cannot be used/) };
  }

  /** Lists one page at once, and the next when it is told to. */
  async function serving() {
    const servers = newAuthority('servers');
    const clients = newAuthority('clients');
    const first = servers.issue();
    const domain = end(first, clients.certificate);
    const next = signalled();
    let listed = 0;
    const service = serve(DirectoryServiceService, {
      readRest: async function* () {
        listed += 1;
        yield ANSWER;
        await next.told;
        yield ANSWER;
      },
    });
    const rig = await rigs.start([service], {
      address: '127.0.0.1:0',
      credentials: serverCredentials(domain.files, { clientsProve: true }),
    });
    const address = rig.address.replace('127.0.0.1', 'localhost');
    const begin = (channel: RpcChannel) =>
      channel.clientOf(DirectoryServiceService).readRest(REQUEST, OPTIONS)[Symbol.asyncIterator]();
    return {
      lines: rig.lines,
      servers,
      clients,
      first,
      domain,
      address,
      goOn: next.tell,
      listed: () => listed,
      begin,
      channel: (files?: CertificateFiles) => {
        const made = new RpcChannel(address, TOKENS.edge, {
          credentials: clientCredentials(address, files),
        });
        channels.push(made);
        return made;
      },
      list: (channel: RpcChannel) => begin(channel).next(),
    };
  }

  /** What a new connection is shown, in PEM. */
  async function shownBy(address: string): Promise<string> {
    const socket = connect({
      port: Number(address.split(':')[1]),
      host: 'localhost',
      rejectUnauthorized: false,
    });
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    const der = socket.getPeerX509Certificate()?.raw.toString('base64');
    socket.destroy();
    return `-----BEGIN CERTIFICATE-----\n${der}\n-----END CERTIFICATE-----\n`;
  }

  test('admits clients with a certificate of the authority', async () => {
    const { servers, clients, channel, list } = await serving();
    const edge = end(clients.issue(), servers.certificate);
    expect(await list(channel(edge.files))).toEqual({ done: false, value: ANSWER });
  });

  test.each<[string, (authority: ReturnType<typeof newAuthority>) => Partial<Issued>]>([
    ['no certificate', () => ({})],
    ['a certificate of another authority', () => newAuthority('others').issue()],
    ['a certificate of an authority that has the same name', () => newAuthority('clients').issue()],
    ['a certificate that vouches for itself', () => selfSignedCertificate()],
    ['a certificate that has expired', (clients) => clients.issue({ notAfter: Date.now() - 60_000 })],
  ])('refuses who shows %s, whatever the token', async (_, shown) => {
    const { servers, clients, channel, list, listed } = await serving();
    const edge = end(shown(clients), servers.certificate);
    const refusal = await refusalOf(list(channel(edge.files)));
    expect([refusal.code, listed()]).toEqual([ErrorCode.UNAVAILABLE, 0]);
  });

  test('logs refused clients, in one line per minute', async () => {
    const { servers, channel, list, lines } = await serving();
    const others = newAuthority('others');
    for (const shown of [{}, others.issue(), others.issue()]) {
      await refusalOf(list(channel(end(shown, servers.certificate).files)));
    }
    const warnings = lines.filter(({ level }) => level === 'warn');
    expect(warnings).toEqual([
      expect.objectContaining({
        message: 'a connection was refused during the TLS handshake',
        peer: expect.stringMatching(/^(::1|(::ffff:)?127\.0\.0\.1)$/),
        reason: 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE',
      }),
    ]);
  });

  test('refuses clients that present the certificate of the server itself', async () => {
    const { servers, channel, list, listed } = await serving();
    const edge = end(servers.issue(), servers.certificate);
    expect((await refusalOf(list(channel(edge.files)))).code).toBe(ErrorCode.UNAVAILABLE);
    expect(listed()).toBe(0);
  });

  test('shows new connections a new certificate, and continues with the call that is open', async () => {
    const { servers, clients, first, domain, address, channel, begin, list, goOn } = await serving();
    const edge = end(clients.issue(), servers.certificate);
    const open = begin(channel(edge.files));
    await open.next();
    expect(await shownBy(address)).toBe(first.certificate);
    const second = servers.issue();
    domain.replace(second, clients.certificate);
    await domain.inUse();
    expect(await shownBy(address)).toBe(second.certificate);
    expect((await list(channel(edge.files))).value).toEqual(ANSWER);
    goOn();
    expect([await open.next(), await open.next()]).toEqual([
      { done: false, value: ANSWER },
      { done: true, value: undefined },
    ]);
  });

  test('trusts a new authority of clients from the next connection on, and the old one no longer', async () => {
    const { servers, clients, domain, channel, begin, list, goOn } = await serving();
    const edge = end(clients.issue(), servers.certificate);
    const open = begin(channel(edge.files));
    await open.next();
    const successors = newAuthority('successors');
    domain.replace(servers.issue(), successors.certificate);
    await domain.inUse();
    expect((await refusalOf(list(channel(edge.files)))).code).toBe(ErrorCode.UNAVAILABLE);
    goOn();
    expect((await open.next()).value).toEqual(ANSWER);
    edge.replace(successors.issue(), servers.certificate);
    await edge.inUse();
    expect((await list(channel(edge.files))).value).toEqual(ANSWER);
  });

  test('is reached over a channel after its certificate and authority were corrected', async () => {
    const { servers, clients, channel, list } = await serving();
    const edge = end(newAuthority('others').issue(), newAuthority('others').certificate);
    const mended = channel(edge.files);
    expect((await refusalOf(list(mended))).code).toBe(ErrorCode.UNAVAILABLE);
    edge.replace(clients.issue(), servers.certificate);
    await edge.inUse();
    expect((await list(mended)).value).toEqual(ANSWER);
  });

  test('keeps its certificate when the key that comes is not that of the certificate', async () => {
    const { servers, clients, first, domain, address, channel, list } = await serving();
    const edge = end(clients.issue(), servers.certificate);
    domain.replace({ ...servers.issue(), key: servers.issue().key }, clients.certificate);
    await domain.refused();
    expect(await shownBy(address)).toBe(first.certificate);
    expect((await list(channel(edge.files))).value).toEqual(ANSWER);
    expect(domain.lines()).toHaveLength(1);
  });
});
