import type { Socket } from 'node:net';
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

/**
 * When a client is closed before the server has sent anything, grpc-js leaves the socket open: each attempt
 * at a frozen server would leave one more. Overrides a method that only grpc-js calls.
 */
export function closingAttempts(given: ChannelCredentials): ChannelCredentials {
  const closing: ChannelCredentials = Object.create(given);
  closing._createSecureConnector = (...target) => {
    const connector = given._createSecureConnector(...target);
    const sockets = new Set<Socket>();
    let isOver = false;
    return {
      waitForReady: () => connector.waitForReady(),
      getCallCredentials: () => connector.getCallCredentials(),
      connect: async (socket) => {
        if (isOver) {
          socket.destroy();
          throw new Error('the attempt was given up');
        }
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
        return connector.connect(socket);
      },
      destroy: () => {
        isOver = true;
        for (const socket of sockets) {
          if (socket.bytesRead === 0) {
            socket.destroy();
          }
        }
        connector.destroy();
      },
    };
  };
  return closing;
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
