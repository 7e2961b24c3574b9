import { AttemptFault } from './attempt.js';
import { HANDSHAKE_TOO_LONG, MAX_HANDSHAKE_KIB } from './tls-bytes.js';

const CONNECTION_MESSAGES: Record<string, (place: string) => string> = {
  ECONNREFUSED: (place) => `${place} refused the connection.`,
  ECONNRESET: (place) => `${place} reset the connection before its answer was complete.`,
  EPIPE: (place) => `${place} closed the connection before the request was complete.`,
  ETIMEDOUT: (place) => `${place} did not respond.`,
  EHOSTUNREACH: (place) => `The network has no route to ${place}.`,
  ENETUNREACH: (place) => `The network has no route to ${place}.`,
  UND_ERR_SOCKET: (place) => `${place} closed the connection before its answer was complete.`,
};

const TLS_MESSAGES: Record<string, (host: string) => string> = {
  CERT_HAS_EXPIRED: (host) => `The certificate of ${host} has expired.`,
  CERT_NOT_YET_VALID: (host) => `The certificate of ${host} is not valid yet.`,
  ERR_TLS_CERT_ALTNAME_INVALID: (host) => `The certificate of the receiver is not for ${host}.`,
  DEPTH_ZERO_SELF_SIGNED_CERT: (host) => `The certificate of ${host} is self-signed.`,
  SELF_SIGNED_CERT_IN_CHAIN: (host) => `The certificate chain of ${host} has a self-signed certificate.`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: (host) =>
    `${host} did not send the certificates between its own and a known authority.`,
  UNABLE_TO_GET_ISSUER_CERT: (host) => `The certificate of ${host} is not from a known authority.`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: (host) => `The certificate of ${host} is not from a known authority.`,
  ECONNRESET: (host) => `${host} closed the connection before the TLS handshake was complete.`,
  ERR_SSL_WRONG_VERSION_NUMBER: (host) => `${host} does not speak TLS on this port.`,
  [HANDSHAKE_TOO_LONG]: (host) =>
    `${host} sent more than ${MAX_HANDSHAKE_KIB} KiB before the TLS handshake was complete.`,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: (host) => `${host} does not speak TLS on this port.`,
};

/** Faults of the answer, by code or, where undici distinguishes them only by their messages, by both. */
const PROTOCOL_MESSAGES: Record<string, string> = {
  UND_ERR_HEADERS_OVERFLOW: 'The headers of the answer are too large.',
  // undici asserts what its parser lets through, such as a status below 100.
  ERR_ASSERTION: 'The answer is not valid HTTP: it cannot be parsed.',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'The body of the answer is not as long as its Content-Length.',
  'UND_ERR_SOCKET bad upgrade': 'The answer switches to another protocol, which was not requested.',
  'UND_ERR_SOCKET bad response': 'The answer is 100 Continue, which was not requested.',
};

/** The connection was not established, or ended early. */
export function connectionFault(error: unknown, place: string): AttemptFault {
  const code = codeOf(error);
  const message = CONNECTION_MESSAGES[code]?.(place) ?? `The connection to ${place} failed (${code}).`;
  return new AttemptFault('CONNECTION_FAILED', message);
}

export function tlsFault(error: unknown, host: string): AttemptFault {
  const code = codeOf(error);
  const message = TLS_MESSAGES[code]?.(host) ?? `The TLS handshake with ${host} failed (${code}).`;
  return new AttemptFault('TLS_FAILED', message);
}

/** A fault after the connection was established. */
export function exchangeFault(error: unknown, place: string): AttemptFault {
  if (error instanceof AttemptFault) {
    return error;
  }
  const code = codeOf(error);
  const { name, message } = error as Error;
  if (name === 'HTTPParserError') {
    const reason = /\((.+)\)$/.exec(message)?.[1] ?? 'it cannot be parsed';
    return protocolFault(`The answer is not valid HTTP: ${reason}.`);
  }
  const known = PROTOCOL_MESSAGES[code] ?? PROTOCOL_MESSAGES[`${code} ${message}`];
  return known === undefined ? connectionFault(error, place) : protocolFault(known);
}

function protocolFault(message: string): AttemptFault {
  return new AttemptFault('PROTOCOL_ERROR', message);
}

function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return String(code ?? name ?? 'no reason was given');
}
