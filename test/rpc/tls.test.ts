import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { MaintenanceServiceService } from '../../generated/proto/integration/maintenance/v1/maintenance.js';
import { ErrorCode } from '../../src/errors/service-error.js';
import { CertificateFiles } from '../../src/rpc/certificate-files.js';
import { RpcChannel } from '../../src/rpc/client.js';
import { clientCredentials, serverCredentials } from '../../src/rpc/connect.js';
import { serve } from '../../src/rpc/handlers.js';
import { eventually, LONGER_THAN_A_TEST_MS } from '../support/eventually.js';
import { selfSignedCertificate } from '../support/self-signed-certificate.js';
import { keyChanger } from './key-changer.js';
import { RawPeer } from './raw-peer.js';
import { type RigOptions, refusalOf, rpcRigs, TOKENS } from './rig.js';

const ANSWER = { counts: [], more: false, otherRunActive: false };
const service = serve(MaintenanceServiceService, { purgeExpired: async () => ANSWER });

describe('a server beyond this machine', () => {
  const rigs = rpcRigs();
  afterEach(() => {
    jest.restoreAllMocks();
  });

  async function call(address: string, channelCredentials: ReturnType<typeof clientCredentials>) {
    const channel = new RpcChannel(address, TOKENS.maintenance, { credentials: channelCredentials });
    try {
      return await channel
        .clientOf(MaintenanceServiceService)
        .purgeExpired({ limit: 1 }, { requestId: 'r', deadlineMs: 20_000 });
    } finally {
      channel.close();
    }
  }

  async function serving(limits: RigOptions['limits'] = {}) {
    const files = trustingItself(rigs.directory());
    const rig = await rigs.start([service], {
      address: '127.0.0.1:0',
      credentials: serverCredentials(files),
      limits,
    });
    // By name, because a server name may not be an address.
    return { ...rig, files, address: rig.address.replace('127.0.0.1', 'localhost') };
  }

  test('is reached by callers that trust its authority', async () => {
    const { address, files } = await serving();
    await expect(call(address, clientCredentials(address, files))).resolves.toEqual(ANSWER);
  });

  test('knows its strangers, and those who showed a token', async () => {
    const { address } = await serving({ connections: { strangerMs: LONGER_THAN_A_TEST_MS } });
    const peers = [new RawPeer(`https://${address}`), new RawPeer(`https://${address}`)] as const;
    const [known, stranger] = peers;
    const { path } = MaintenanceServiceService.purgeExpired;
    const call = (peer: RawPeer, token?: string) => peer.call(path, token).end(Buffer.alloc(5));
    call(known, TOKENS.maintenance);
    call(stranger, 'wrong');
    await eventually('both are answered', () => known.closed + stranger.closed === 2);
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + LONGER_THAN_A_TEST_MS);
    await eventually('the stranger is cut', () => stranger.session.destroyed);
    expect([known.session.destroyed, known.statuses, stranger.statuses]).toEqual([false, ['0'], ['16']]);
    known.leave();
  });

  test('cuts a connection whose peer changes its keys 40 times, and keeps one with 20 changes', async () => {
    const { address, files } = await serving({ connections: { strangerMs: LONGER_THAN_A_TEST_MS } });
    const port = Number(address.split(':')[1]);
    const [patient, hasty] = [await keyChanger(port, 20), await keyChanger(port, 40)];
    await eventually('the hasty one is cut', () => hasty.destroyed);
    expect(patient.destroyed).toBe(false);
    await expect(call(address, clientCredentials(address, files))).resolves.toEqual(ANSWER);
    patient.destroy();
  });

  test('is not believed without its authority', async () => {
    const { address } = await serving();
    const stranger = trustingItself(rigs.directory());
    for (const trusted of [credentials.createSsl(), clientCredentials(address, stranger)]) {
      expect((await refusalOf(call(address, trusted))).code).toBe(ErrorCode.UNAVAILABLE);
    }
  });

  test('refuses connections without TLS before they send a token', async () => {
    const { address, timed } = await serving();
    expect((await refusalOf(call(address, credentials.createInsecure()))).code).toBe(ErrorCode.UNAVAILABLE);
    expect(timed).toEqual([]);
  });
});

describe('the way to a server', () => {
  test.each([
    ['unix:/tmp/s', false],
    ['127.0.0.1:4002', false],
    ['127.8.9.1:4002', false],
    ['localhost:4002', false],
    ['[::1]:4002', false],
    ['domain.internal:4002', true],
    ['10.0.0.1:4002', true],
    ['localhost.example.com:4002', true],
    ['127.0.0.1.example.com:4002', true],
    ['[::2]:4002', true],
  ])('%s is encrypted: %s', (address, secure) => {
    expect(clientCredentials(address)._isSecure()).toBe(secure);
  });

  test('is encrypted on this machine too where an authority is given', () => {
    const files = trustingItself(temporaryDirectory());
    expect(clientCredentials('localhost:4002', files)._isSecure()).toBe(true);
  });

  const temporaryDirectory = rpcRigs().directory;
});

/** The certificate vouches for itself, so that it is its own authority. */
function trustingItself(directory: string): CertificateFiles {
  const { certificate, key } = selfSignedCertificate();
  const [certFile, keyFile] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  writeFileSync(certFile, certificate);
  writeFileSync(keyFile, key);
  return new CertificateFiles({ caFile: certFile, certFile, keyFile });
}
