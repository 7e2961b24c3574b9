import { AttemptFault } from './attempt-fault.js';

const CONNECTION_SENTENCES: Record<string, (place: string) => string> = {
  ECONNREFUSED: (place) => `Nothing listens at ${place}: the connection was refused.`,
  ECONNRESET: (place) => `${place} broke the connection off before it was answered.`,
  EPIPE: (place) => `${place} broke the connection off before everything was sent.`,
  ETIMEDOUT: (place) => `${place} does not answer.`,
  EHOSTUNREACH: (place) => `There is no way through the network to ${place}.`,
  ENETUNREACH: (place) => `There is no way through the network to ${place}.`,
  UND_ERR_SOCKET: (place) => `${place} closed the connection before its answer was complete.`,
};

const TLS_SENTENCES: Record<string, (host: string) => string> = {
  CERT_HAS_EXPIRED: (host) => `The certificate of ${host} has expired.`,
  CERT_NOT_YET_VALID: (host) => `The certificate of ${host} is not valid yet.`,
  ERR_TLS_CERT_ALTNAME_INVALID: (host) => `The certificate that came is not for ${host}.`,
  DEPTH_ZERO_SELF_SIGNED_CERT: (host) => `The certificate of ${host} is self-signed.`,
  SELF_SIGNED_CERT_IN_CHAIN: (host) => `The certificate of ${host} leads to one that is self-signed.`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: (host) =>
    `The certificate of ${host} came without the certificates between it and a known authority.`,
  UNABLE_TO_GET_ISSUER_CERT: (host) => `The certificate of ${host} is not from a known authority.`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: (host) => `The certificate of ${host} is not from a known authority.`,
  ECONNRESET: (host) => `${host} broke the connection off before TLS was agreed.`,
  ERR_SSL_WRONG_VERSION_NUMBER: (host) => `${host} does not speak TLS on this port.`,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: (host) => `${host} does not speak TLS on this port.`,
};

/** No connection, or a broken one. */
export function connectionFault(error: unknown, place: string): AttemptFault {
  const code = codeOf(error);
  const sentence = CONNECTION_SENTENCES[code]?.(place) ?? `The connection to ${place} failed (${code}).`;
  return new AttemptFault('CONNECTION_FAILED', sentence);
}

export function tlsFault(error: unknown, host: string): AttemptFault {
  const code = codeOf(error);
  const sentence = TLS_SENTENCES[code]?.(host) ?? `TLS with ${host} failed (${code}).`;
  return new AttemptFault('TLS_FAILED', sentence);
}

/** Faults after the connection was open. */
export function exchangeFault(error: unknown, place: string): AttemptFault {
  if (error instanceof AttemptFault) {
    return error;
  }
  const code = codeOf(error);
  const { name, message } = error as Error;
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return protocolFault('its headers are too large');
  }
  if (name === 'HTTPParserError') {
    return protocolFault(/\((.+)\)$/.exec(message)?.[1] ?? 'it cannot be read');
  }
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return protocolFault('its body is not as long as it says');
  }
  // undici distinguishes these only by their messages.
  if (code === 'UND_ERR_SOCKET' && message === 'bad upgrade') {
    return protocolFault('it switches to another protocol, which was not requested');
  }
  if (code === 'UND_ERR_SOCKET' && message === 'bad response') {
    return protocolFault('it says 100 Continue, which was not requested');
  }
  return connectionFault(error, place);
}

function protocolFault(what: string): AttemptFault {
  return new AttemptFault('PROTOCOL_ERROR', `The answer is not HTTP as it should be: ${what}.`);
}

function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return String(code ?? name ?? 'no reason was given');
}
