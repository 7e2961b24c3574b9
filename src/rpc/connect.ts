import { type ChannelCredentials, credentials, experimental, ServerCredentials } from '@grpc/grpc-js';
import type { CertificateFiles } from './certificate-files.js';

/** A socket of this machine needs no TLS; an authority to trust, or an address beyond loopback, does. */
export function clientCredentials(address: string, files?: CertificateFiles): ChannelCredentials {
  if (address.startsWith('unix:')) {
    return credentials.createInsecure();
  }
  if (files === undefined) {
    const local = /^(localhost|127\.[\d.]+|\[::1\]):/.test(address);
    return local ? credentials.createInsecure() : credentials.createSsl();
  }
  return experimental.createCertificateProviderChannelCredentials(files, files.hasIdentity ? files : null);
}

/** With `clientsProve`, a connection without a certificate of the authority in the files ends before it can carry a call. */
export function serverCredentials(
  files?: CertificateFiles,
  { clientsProve = false } = {},
): ServerCredentials {
  if (files === undefined) {
    return ServerCredentials.createInsecure();
  }
  return experimental.createCertificateProviderServerCredentials(
    files,
    clientsProve ? files : null,
    clientsProve,
  );
}
