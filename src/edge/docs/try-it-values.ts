import type { Dispatch, HttpRequest } from '../http/exchange.js';

/** The path that the script of the forms asks. */
export const TRY_IT_VALUES = '/docs/try-it/values';

/** What fills the forms of a demo, so that one click answers. */
export interface TryItValues {
  apiKey: string;
  /** By the name of the parameter. */
  ids: Readonly<Record<string, string>>;
}

const LOOPBACK = /^(?:(?:::ffff:)?127\.\d+\.\d+\.\d+|::1)$/;
/** Another name may be one that a foreign page has pointed at this machine. */
const OWN_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i;
/** A proxy or a tunnel on this machine passes on requests of other machines. */
const PASSED_ON = ['forwarded', 'via', 'x-real-ip'];
const PASSED_ON_PREFIXES = ['x-forwarded-', 'cf-', 'ngrok-'];

const UNCACHED = { 'cache-control': 'no-store', 'cross-origin-resource-policy': 'same-origin' };

/**
 * Serves the key of a demo to pages of this machine: it never leaves loopback, and no file or cache has it.
 * Others get an empty answer. In live, nothing is at this path.
 */
export function withTryItValues(
  environment: 'live' | 'demo',
  values: () => TryItValues | undefined,
  onward: Dispatch,
): Dispatch {
  if (environment !== 'demo') {
    return onward;
  }
  return async (request) => {
    if (request.path !== TRY_IT_VALUES || request.method !== 'GET') {
      return onward(request);
    }
    const told = isOfThisMachine(request) ? values() : undefined;
    const operation = 'readTryItValues';
    return told === undefined
      ? { status: 204, headers: UNCACHED, operation }
      : {
          status: 200,
          headers: { ...UNCACHED, 'content-type': 'application/json' },
          body: JSON.stringify(told),
          operation,
        };
  };
}

function isOfThisMachine({ clientAddress, headers }: HttpRequest): boolean {
  const isPassedOn = Object.keys(headers).some(
    (name) => PASSED_ON.includes(name) || PASSED_ON_PREFIXES.some((prefix) => name.startsWith(prefix)),
  );
  return (
    LOOPBACK.test(clientAddress) &&
    OWN_HOST.test(headers.host ?? '') &&
    !isPassedOn &&
    (headers['sec-fetch-site'] ?? 'same-origin') === 'same-origin'
  );
}
