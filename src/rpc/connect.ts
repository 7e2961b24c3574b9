import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { type ChannelCredentials, credentials, ServerCredentials } from '@grpc/grpc-js';

export interface TlsFiles {
  certFile?: string;
  keyFile?: string;
  caFile?: string;
}

/** A socket of this machine needs no TLS; an authority to trust, or an address beyond loopback, does. */
export function clientCredentials(address: string, { caFile }: TlsFiles): ChannelCredentials {
  if (address.startsWith('unix:')) {
    return credentials.createInsecure();
  }
  if (caFile === undefined) {
    const local = /^(localhost|127\.[\d.]+|\[::1\]):/.test(address);
    return local ? credentials.createInsecure() : credentials.createSsl();
  }
  return credentials.createSsl(readFileSync(caFile));
}

export function serverCredentials({ certFile, keyFile }: TlsFiles): ServerCredentials {
  if (certFile === undefined || keyFile === undefined) {
    return ServerCredentials.createInsecure();
  }
  const cert = readFileSync(certFile);
  const key = readFileSync(keyFile);
  // Refuses files that are no certificate and key of each other, while it is still known that they are what is wrong.
  createSecureContext({ cert, key });
  return ServerCredentials.createSsl(null, [{ cert_chain: cert, private_key: key }]);
}
