import { OperatorServiceService } from '../../../generated/proto/integration/operator/v1/operator.js';
import { cursorOf, placeIn } from '../../domain/directory/page.js';
import type { AnyMethod, CallContext, Handler, ServedService } from '../handlers.js';

/** Its page tokens are a chain and a place in it. Callers may compose them, so they name no method. */
const WRITTEN_BY_CALLERS = OperatorServiceService.listAuditRecords.path;

/** The service, with page tokens that name the method they are from. Other methods refuse them. */
export function namingLists({ definition, handlers }: ServedService): ServedService {
  const naming = Object.entries(handlers).map(([name, handler]) => {
    const isWhole = handler === undefined || definition[name]?.path === WRITTEN_BY_CALLERS;
    return [name, isWhole ? handler : named(name, handler)];
  });
  return { definition, handlers: Object.fromEntries(naming) };
}

interface Listing {
  pageToken?: string;
  clientId?: string;
  accountId?: string;
}

function named(list: string, handler: Handler<AnyMethod>): Handler<AnyMethod> {
  return (request: Listing, context) => {
    const { pageToken } = request;
    return pageToken === undefined ? handler(request, context) : page(pageToken, request, context);
  };

  async function page(pageToken: string, request: Listing, context: CallContext) {
    const subject = request.clientId || request.accountId;
    const own = subject ? `${list}.${subject}` : list;
    const place = pageToken && placeIn(own, pageToken, 'page_token');
    const { nextPageToken, ...found } = await handler({ ...request, pageToken: place }, context);
    return { ...found, nextPageToken: nextPageToken && cursorOf(own, nextPageToken) };
  }
}
