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
/**
 * Of the page that asks, which its browser tells and no proxy changes. Another name may be one that a foreign
 * page has pointed at this machine, or that of a proxy.
 */
const OWN_ORIGIN = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i;
/** A proxy or a tunnel on this machine passes on requests of other machines. */
const PASSED_ON = ['forwarded', 'via', 'x-real-ip'];
const PASSED_ON_PREFIXES = ['x-forwarded-', 'cf-', 'ngrok-'];

const UNCACHED = { 'cache-control': 'no-store', 'cross-origin-resource-policy': 'same-origin' };

/**
 * Serves the key of a demo to pages that a browser of this machine has opened at a loopback address. By POST,
 * because only then do browsers send the origin. No file or cache has it. Others get an empty answer. Where
 * the demo is published, and in live, this path does not exist.
 */
export function withTryItValues(
  isLocalDemo: boolean,
  values: () => TryItValues | undefined,
  onward: Dispatch,
): Dispatch {
  if (!isLocalDemo) {
    return onward;
  }
  return async (request) => {
    if (request.path !== TRY_IT_VALUES || request.method !== 'POST') {
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
  const { origin = '', host } = headers;
  const isPassedOn = Object.keys(headers).some(
    (name) => PASSED_ON.includes(name) || PASSED_ON_PREFIXES.some((prefix) => name.startsWith(prefix)),
  );
  return (
    LOOPBACK.test(clientAddress) &&
    OWN_ORIGIN.test(origin) &&
    origin.toLowerCase() === `http://${host}`.toLowerCase() &&
    !isPassedOn
  );
}
