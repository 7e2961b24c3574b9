import type { ReceivedRequest } from '../contract/typed-handler.js';
import { type Fields, parseForm } from '../http/form.js';
import { isFromElsewhere } from './browser.js';
import type { SignOnDependencies } from './dependencies.js';
import { seeOther } from './step.js';

const PRINTABLE = /^[\x21-\x7e]*$/;
/** An address length that proxies and servers accept. */
const MAX_ADDRESS_LENGTH = 8_000;

const UNREADABLE = 'The request of the application could not be read.';
const TOO_LONG = 'The request of the application is too long.';

/** The parameters of a navigation, or the error page if they are malformed. */
export function readQuery({ rawQuery, requestId }: ReceivedRequest, { pages }: SignOnDependencies) {
  const fields = PRINTABLE.test(rawQuery) ? parseForm(rawQuery) : undefined;
  return fields
    ? { fields }
    : {
        refusal: pages.error({
          message: UNREADABLE,
          developerMessage: 'The query is not percent-encoded UTF-8.',
          requestId,
        }),
      };
}

/** The same from a form. */
export function readForm({ body, requestId }: ReceivedRequest, { pages }: SignOnDependencies) {
  if (body.kind === 'malformed') {
    return { refusal: pages.error({ message: UNREADABLE, developerMessage: body.message, requestId }) };
  }
  return { fields: body.kind === 'form' ? body.fields : (new Map() as Fields) };
}

/**
 * A form from another site comes without the cookie (SameSite), and an answer would replace the session. A
 * redirect repeats it as a navigation, which carries the cookie.
 */
export function askedAgain(
  request: ReceivedRequest,
  fields: Fields,
  { path, names, continueUrl }: { path: string; names: readonly string[]; continueUrl?: string },
  { cookies, pages, signOnUrl }: SignOnDependencies,
) {
  const hasSession = cookies.hashIn(request.header('cookie')) !== undefined;
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
    : seeOther(address, pages.headers);
}
