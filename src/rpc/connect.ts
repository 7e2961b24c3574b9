import { type ChannelCredentials, credentials, experimental, ServerCredentials } from '@grpc/grpc-js';
import type { CertificateFiles } from './certificate-files.js';
import { FRAME_BYTES, MAX_ANSWER_BYTES } from './short-calls/frames.js';

/** Of all clients. */
export const CLIENT_OPTIONS = {
  'grpc.max_receive_message_length': MAX_ANSWER_BYTES + FRAME_BYTES,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 5_000,
};

/** Without TLS on a socket; with TLS beyond loopback, and where an authority is given. */
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

/** With `clientsProve`, a connection without a certificate of the authority is closed before any call. */
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
