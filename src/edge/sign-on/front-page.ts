import type { Dispatch } from '../http/exchange.js';
import { type FrontLinks, frontPage } from '../pages/front.js';
import type { PageWriter } from './page-writer.js';

/** Answers the bare address with a page that leads on; passes on every other request. */
export function withFrontPage(pages: PageWriter, links: FrontLinks, onward: Dispatch): Dispatch {
  const { status, headers, body } = pages.page(frontPage(links));
  const answer = {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8', ...headers },
    body: String(body),
    operation: 'showFront',
  };
  return async (request) =>
    request.path === '/' && (request.method === 'GET' || request.method === 'HEAD')
      ? { ...answer }
      : onward(request);
}
