import { ErrorCode, ServiceError } from '../../errors/service-error.js';
import type { Dispatch, DispatchedAnswer, HttpAnswer, HttpRequest } from '../http/exchange.js';
import { toProblem } from '../problem.js';
import type { Library } from './library.js';
import { NOT_FOUND_PATH } from './site-file.js';

const METHODS = ['GET', 'HEAD'];
/** By an address, without its last slash, that has no page: the first page of what readers expect there. */
const FIRST_PAGES: Readonly<Record<string, string>> = {
  '': '/docs',
  '/docs/guides': '/docs/start',
  '/docs/reference': '/docs/reference/gateway',
  '/docs/operate': '/docs/operate/install',
};
const PAGES = /^\/docs(?:\/|$)/;

/** Serves the library, with its own 404 below /docs; passes every other request on. */
export function withLibrary(library: Library, onward: Dispatch): Dispatch {
  const resourceAt: Library = (path) => (path === NOT_FOUND_PATH ? undefined : library(path));
  return async (request) => {
    const { path } = request;
    const withoutSlash = path.replace(/\/$/, '');
    const location = FIRST_PAGES[withoutSlash] ?? '';
    if (METHODS.includes(request.method) && library(location)) {
      return namedAnswer(location, { status: 302, headers: { location, 'cache-control': 'no-store' } });
    }
    const resource = resourceAt(path);
    if (!resource && !(PAGES.test(path) && library(NOT_FOUND_PATH))) {
      return onward(request);
    }
    if (!METHODS.includes(request.method)) {
      return refusal(request);
    }
    if (!resource && resourceAt(withoutSlash)) {
      return namedAnswer(path, {
        status: 308,
        headers: { location: withoutSlash, 'cache-control': 'no-store' },
      });
    }
    return namedAnswer(path, resource ? await resource.answer(request) : await notFound(library, request));
  };
}

/** The 404 page, always with its body. */
async function notFound(library: Library, request: HttpRequest) {
  const { 'if-none-match': _, ...headers } = request.headers;
  const page = await library(NOT_FOUND_PATH)?.answer({ ...request, headers });
  const { etag: __, ...kept } = page?.headers ?? {};
  return { status: 404, headers: { ...kept, 'cache-control': 'no-store' }, body: page?.body ?? '' };
}

function refusal({ requestId, path }: HttpRequest): DispatchedAnswer {
  const error = new ServiceError(
    ErrorCode.METHOD_NOT_ALLOWED,
    'This path is read-only: it accepts GET and HEAD.',
  );
  const answer = toProblem(error, requestId);
  return namedAnswer(path, { ...answer, headers: { ...answer.headers, allow: METHODS.join(', ') } });
}

/** Adds the name under which logs and metrics count the path. */
function namedAnswer(path: string, answer: HttpAnswer): DispatchedAnswer {
  return { ...answer, operation: PAGES.test(path) ? 'readDocs' : 'download' };
}
