import type { Config } from '../../../config/config.js';
import { type CertificateEnd, CertificateFiles } from '../../../rpc/certificate-files.js';
import { foundIn } from '../../../store/checks/check.js';
import { clientFiles, serverFiles } from '../../roles/tls-files.js';
import { type DoctorCheck, skipUnless } from './check.js';

const NONE_SET = 'no certificate file is set';

export const certificatesAreUsable: DoctorCheck = {
  name: 'certificates',
  about: 'The certificate files hold certificates in PEM, each with its key.',
  severity: 'error',
  remedy: 'Correct the files. Until then, a running service uses those that it read before.',
  find: ({ config }) => {
    const found = sources(config);
    skipUnless(
      found.some(({ files, problem }) => files !== undefined || problem !== undefined),
      NONE_SET,
    );
    return foundIn(found.flatMap(({ problem }) => problem ?? []));
  },
};

export const noCertificateExpiresSoon: DoctorCheck = {
  name: 'certificates-end',
  about: 'No certificate has expired or expires soon.',
  severity: 'warning',
  remedy:
    'Renew it, and find out why it was not renewed in time. Changed files are in use within seconds, those for Temporal at the next session.',
  find: ({ config }) => {
    const ends = sources(config).flatMap(({ files }) => files?.ends() ?? []);
    skipUnless(ends.length > 0, NONE_SET);
    const now = Date.now();
    const near = ends.filter(({ renewalDue }) => now > renewalDue);
    const first = Math.min(...ends.map(({ notAfter }) => notAfter));
    return foundIn(near.map(asText), `The first expires ${dayOf(first)}.`);
  },
};

function asText({ file, notAfter }: CertificateEnd): string {
  return `${file} ${notAfter < Date.now() ? 'has expired' : 'expires'} ${dayOf(notAfter)}`;
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

interface Source {
  files?: CertificateFiles | undefined;
  problem?: string;
}

function sources(config: Config): Source[] {
  return [() => serverFiles(config), () => clientFiles(config), () => temporalFiles(config)].map((read) => {
    try {
      return { files: read() };
    } catch (error) {
      return { problem: (error as Error).message };
    }
  });
}

function temporalFiles(config: Config): CertificateFiles | undefined {
  const files = {
    certFile: config.TEMPORAL_TLS_CERT_FILE,
    keyFile: config.TEMPORAL_TLS_KEY_FILE,
    caFile: config.TEMPORAL_TLS_CA_FILE,
  };
  return Object.values(files).some((path) => path !== undefined) ? new CertificateFiles(files) : undefined;
}
