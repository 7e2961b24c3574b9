import { describe, expect, test } from '@jest/globals';
import {
  certificatesAreUsable,
  noCertificateExpiresSoon,
} from '../../../../src/cli/commands/doctor/certificate-checks.js';
import { selfSignedCertificate } from '../../../support/self-signed-certificate.js';
import { doctorRig } from './rig.js';

const { outcomeOf, file } = doctorRig();
const DAY_MS = 86_400_000;

describe('certificates', () => {
  function tls(notAfter: number) {
    const { certificate, key } = selfSignedCertificate({ notBefore: Date.now() - 100 * DAY_MS, notAfter });
    return { GRPC_TLS_CERT_FILE: file(certificate), GRPC_TLS_KEY_FILE: file(key) };
  }

  test('are sound with their key, and a warning near their expiry', async () => {
    const fresh = tls(Date.now() + 300 * DAY_MS);
    expect(await outcomeOf(certificatesAreUsable, fresh)).toMatchObject({ status: 'ok' });
    expect(await outcomeOf(noCertificateExpiresSoon, fresh)).toMatchObject({ status: 'ok' });
    for (const [end, words] of [
      [Date.now() + 3 * DAY_MS, ' expires '],
      [Date.now() - DAY_MS, ' has expired '],
    ] as const) {
      expect(await outcomeOf(noCertificateExpiresSoon, tls(end))).toMatchObject({
        status: 'warning',
        examples: [expect.stringContaining(words)],
      });
    }
    for (const check of [certificatesAreUsable, noCertificateExpiresSoon]) {
      expect(await outcomeOf(check)).toMatchObject({
        status: 'skipped',
        reason: 'no certificate file is set',
      });
    }
  });

  test('with the key of another one, or files without a certificate, are an error', async () => {
    const end = Date.now() + 300 * DAY_MS;
    const mixed = {
      ...tls(end),
      GRPC_TLS_KEY_FILE: tls(end).GRPC_TLS_KEY_FILE,
      TEMPORAL_TLS_CA_FILE: file('x'),
    };
    expect(await outcomeOf(certificatesAreUsable, mixed)).toMatchObject({
      status: 'error',
      examples: [
        expect.stringContaining('does not hold the key'),
        expect.stringContaining('whole certificates'),
      ],
    });
  });
});
