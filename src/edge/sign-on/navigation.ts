import type { ReceivedRequest } from '../contract/typed-handler.js';
import { type Fields, MAX_PAIRS, parseForm } from '../http/parsers.js';
import { isFromElsewhere } from './browser.js';
import type { SignOnDependencies } from './sign-on-handler.js';
import { seeOther } from './step.js';

const PRINTABLE = /^[\x21-\x7e]*$/;
/** An address length that proxies and servers accept. */
const MAX_ADDRESS_LENGTH = 8_000;

const UNREADABLE = 'The request of the application could not be read.';
const TOO_LONG = 'The request of the application is too long.';

interface Navigation {
  path: string;
  names: readonly string[];
  /** For a form that is too long to repeat. */
  continueUrl?: string;
}

/** Begins what the request of an application asks for. */
type Begin<Answer> = (
  request: ReceivedRequest,
  fields: Fields,
  dependencies: SignOnDependencies,
) => Promise<Answer>;

/** The handler of a navigation, which answers malformed parameters with the error page. */
export function byAddress<Answer>(begin: Begin<Answer>) {
  return async (request: ReceivedRequest, dependencies: SignOnDependencies) => {
    const { rawQuery, requestId } = request;
    const fields = PRINTABLE.test(rawQuery) ? parseForm(rawQuery) : undefined;
    return fields
      ? begin(request, fields, dependencies)
      : dependencies.pages.error({
          message: UNREADABLE,
          developerMessage: `The query is not percent-encoded UTF-8, or has more than ${MAX_PAIRS} parameters.`,
          requestId,
        });
  };
}

/** The same for a form. `again` is the navigation that can repeat it. */
export function byForm<Answer>(begin: Begin<Answer>, again: Navigation) {
  return async (request: ReceivedRequest, dependencies: SignOnDependencies) => {
    const { body, requestId } = request;
    if (body.kind === 'malformed') {
      return dependencies.pages.error({
        message: UNREADABLE,
        developerMessage: body.message,
        requestId,
      });
    }
    const fields: Fields = body.kind === 'form' ? body.fields : new Map();
    return askedAgain(request, fields, again, dependencies) ?? begin(request, fields, dependencies);
  };
}

/**
 * A form from another site comes without the cookie (SameSite), and an answer would replace the session. A
 * redirect repeats it as a navigation, which carries the cookie.
 */
function askedAgain(
  request: ReceivedRequest,
  fields: Fields,
  { path, names, continueUrl }: Navigation,
  { cookies, pages, signOnUrl }: SignOnDependencies,
) {
  const hasSession = cookies.hashIn(request.headers.cookie) !== undefined;
  if (hasSession || !isFromElsewhere(request, signOnUrl)) {
    return undefined;
  }
  const known = names.flatMap((name) =>
    (fields.get(name) ?? []).map((value): [string, string] => [name, value]),
  );
  const address = `${path}?${new URLSearchParams(known)}`;
  return address.length > MAX_ADDRESS_LENGTH
    ? pages.error({
        message: TOO_LONG,
        developerMessage: `Forms of other sites are taken up to ${MAX_ADDRESS_LENGTH} characters.`,
        continueUrl,
        requestId: request.requestId,
      })
    : seeOther(address);
}

/** The known parameters by message name, the first value of each, and the names of repeated ones. */
export function namedParameters<Name extends string>(fields: Fields, names: Readonly<Record<string, Name>>) {
  const parameters: Partial<Record<Name, string>> = {};
  const repeatedNames: string[] = [];
  for (const [parameter, name] of Object.entries(names)) {
    const [value = '', ...more] = fields.get(parameter) ?? [];
    if (value !== '') {
      parameters[name] = value;
    }
    if (more.length > 0) {
      repeatedNames.push(parameter);
    }
  }
  return { ...parameters, repeatedNames };
}
