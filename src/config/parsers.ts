import { isIP, isIPv6 } from 'node:net';
import { Secret } from './secret.js';

const HIGHEST_PORT = 65_535;

/** Turns the text of a setting into its value, or throws an Error whose message completes "NAME …". */
export type Parser<T> = (text: string) => T;

function assertIs(isSo: boolean, refusal: string): asserts isSo {
  if (!isSo) {
    throw new Error(refusal);
  }
}

const MILLISECONDS_PER_UNIT = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export const text: Parser<string> = (value) => value;

/** Long enough to resist guessing. */
export const longSecret: Parser<Secret> = (value) => {
  assertIs(value.length >= 32, 'must have at least 32 characters');
  // Headers refuse others, with an error that contains the text.
  assertIs(/^[\x21-\x7e]+$/.test(value), 'must be one line of ASCII without blanks');
  return new Secret(value);
};

const MAX_TOKENS = 2;
const SHA256_SHAPE = /^sha256:[\w-]{43}$/;

/** One token, or two during a rotation. The side that only checks may have `sha256:` and the hash. */
export const roleTokens: Parser<readonly Secret[]> = (value) => {
  const tokens = listOf(longSecret)(value);
  assertIs(
    tokens.length > 0 && tokens.length <= MAX_TOKENS,
    'must be one token, or two separated by a comma while the older one is replaced',
  );
  const hashes = tokens.map((token) => token.reveal()).filter((token) => token.startsWith('sha256:'));
  assertIs(
    hashes.every((hash) => SHA256_SHAPE.test(hash)),
    'must have 43 characters of base64url after sha256:',
  );
  return tokens;
};

/** IPv6 may be in brackets, as in URLs; the system takes it without. */
export const host: Parser<string> = (value) => value.replace(/^\[(.+)\]$/, '$1');

export const port: Parser<number> = (value) => {
  const number = Number(value);
  const isPort = /^\d{1,5}$/.test(value) && number <= HIGHEST_PORT;
  assertIs(isPort, 'must be a port number between 0 and 65535');
  return number;
};

export function wholeNumberBetween(least: number, most: number): Parser<number> {
  return (value) => {
    const number = Number(value);
    const isBetween = /^\d{1,9}$/.test(value) && number >= least && number <= most;
    assertIs(isBetween, `must be a whole number from ${least} to ${most}`);
    return number;
  };
}

export function oneOf<const T extends string>(...values: T[]): Parser<T> {
  return (value) => {
    const found = values.find((candidate) => candidate === value);
    assertIs(found !== undefined, `must be one of ${values.join(', ')}`);
    return found;
  };
}

/** `250ms`, `30s`, `5m`, `12h`, `30d`, and `0`, which needs no unit. */
export const durationMs: Parser<number> = (value) => {
  if (value === '0') {
    return 0;
  }
  assertIs(!/^\d+$/.test(value), 'must have a unit, as in 250ms, 30s, 5m, 12h or 30d');
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(value);
  assertIs(match !== null, 'must be a duration such as 250ms, 30s, 5m, 12h or 30d');
  return Number(match[1]) * MILLISECONDS_PER_UNIT[match[2] as keyof typeof MILLISECONDS_PER_UNIT];
};

export function durationBetween(shortest: string, longest: string): Parser<number> {
  const [shortestMs, longestMs] = [durationMs(shortest), durationMs(longest)];
  return (value) => {
    const givenMs = durationMs(value);
    assertIs(givenMs >= shortestMs && givenMs <= longestMs, `must be between ${shortest} and ${longest}`);
    return givenMs;
  };
}

/** `refusal` completes "NAME …" with the form of the whole list; without it, an item says its own. */
export function listOf<T>(item: Parser<T>, refusal?: string): Parser<readonly T[]> {
  return (value) => {
    const parts = value
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
    try {
      return parts.map(item);
    } catch (error) {
      throw refusal === undefined ? error : new Error(refusal);
    }
  };
}

/** `600/1m`: requests and their window. */
export const rate: Parser<{ limit: number; windowMs: number }> = (value) => {
  const match = /^(\d{1,9})\/(\d{1,9}(?:ms|s|m|h|d))$/.exec(value);
  assertIs(match !== null && Number(match[1]) > 0, 'must be a rate such as 600/1m');
  const windowMs = durationMs(match[2] as string);
  // Answers count the seconds to its end in 32 bits.
  const isAllowed = windowMs >= 1_000 && windowMs <= durationMs('365d');
  assertIs(isAllowed, 'must have a window between 1s and 365d');
  return { limit: Number(match[1]), windowMs };
};

/** The public address of a listener: an http(s) origin without a path, to which paths are appended. */
export const origin: Parser<string> = (value) => {
  const isOrigin = /^https?:\/\/[\p{L}\p{N}.:[\]_-]+\/?$/iu.test(value) && URL.canParse(value);
  assertIs(isOrigin, 'must be an address such as https://gateway.example.com, without a path');
  return new URL(value).origin;
};

export const postgresUrl: Parser<Secret> = (value) => {
  const isPostgres = URL.canParse(value) && /^postgres(ql)?:$/.test(new URL(value).protocol);
  assertIs(isPostgres, 'must be an address such as postgres://user:password@host:5432/database');
  return new Secret(value);
};

export const hostAndPort: Parser<string> = (value) => {
  // Names in several scripts hold combining marks.
  const [, ipv6, portText] = /^(?:[\p{L}\p{M}\p{N}._-]+|\[(.+)\]):(\d{1,5})$/u.exec(value) ?? [];
  const isHost = ipv6 === undefined || (isIPv6(ipv6) && !ipv6.includes('%'));
  assertIs(isHost && Number(portText) > 0 && Number(portText) <= HIGHEST_PORT, 'must be host:port');
  return value;
};

/** Temporal separates the parts of a version by these characters, and begins its own names with `__`. */
export const deploymentName = named(/^(?!__)[^.:\s]{1,200}$/, 'a name without ".", ":" and blanks');
export const buildId = named(/^(?!__)[^:\s]{1,200}$/, 'a name without ":" and blanks');

function named(shape: RegExp, form: string): Parser<string> {
  return (value) => {
    assertIs(shape.test(value), `must be ${form}`);
    return value;
  };
}

/** host:port, or `unix:/path` for a socket on this machine. */
export const grpcAddress: Parser<string> = (value) => (/^unix:.+/.test(value) ? value : hostAndPort(value));

/** Health is asked of each, and each has connections of its own. */
const MOST_ADDRESSES = 16;
const FORM_OF_ADDRESSES =
  'must be unix:/path, or up to 16 of host:port and dns:///host:port with commas between them';

/** One socket, or addresses of servers that do the same work. */
export const grpcAddresses: Parser<string> = (value) => {
  if (/^unix:.+/.test(value) && !/,(unix:|[^/,]+:\d+$)/.test(value)) {
    return value;
  }
  const hosts = listOf(
    (address) => hostAndPort(address.replace(/^dns:\/\/\//, '')) && address,
    FORM_OF_ADDRESSES,
  )(value);
  assertIs(hosts.length > 0 && hosts.length <= MOST_ADDRESSES, FORM_OF_ADDRESSES);
  return hosts.join(',');
};

/** An address or a CIDR block, as node:net's BlockList takes it. */
export const network: Parser<{ address: string; prefix: number; family: 'ipv4' | 'ipv6' }> = (value) => {
  const [, address = '', prefixText] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(value) ?? [];
  const version = isIP(address);
  const widest = version === 4 ? 32 : 128;
  const prefix = prefixText === undefined ? widest : Number(prefixText);
  const isNetwork = version !== 0 && prefix <= widest;
  assertIs(isNetwork, 'must be IP addresses or CIDR blocks, such as 10.0.0.0/8, separated by commas');
  return { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' };
};
