import { readFileSync } from 'node:fs';
import { type ChannelCredentials, credentials, ServerCredentials } from '@grpc/grpc-js';

export interface TlsFiles {
  certFile?: string;
  keyFile?: string;
  caFile?: string;
}

/** A socket of this machine needs no TLS; an authority to trust, or an address beyond loopback, does. */
export function clientCredentials(address: string, { caFile }: TlsFiles): ChannelCredentials {
  const local = address.startsWith('unix:') || /^(localhost|127\.[\d.]+|\[::1\]):/.test(address);
  if (caFile === undefined) {
    return local ? credentials.createInsecure() : credentials.createSsl();
  }
  return credentials.createSsl(readFileSync(caFile));
}

export function serverCredentials({ certFile, keyFile }: TlsFiles): ServerCredentials {
  if (certFile === undefined || keyFile === undefined) {
    return ServerCredentials.createInsecure();
  }
  return ServerCredentials.createSsl(null, [
    { cert_chain: readFileSync(certFile), private_key: readFileSync(keyFile) },
  ]);
}
