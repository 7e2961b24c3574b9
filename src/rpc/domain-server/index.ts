import { OperatorServiceService } from '../../../generated/proto/integration/operator/v1/operator.js';
import { cursorOf, placeIn } from '../../domain/directory/page.js';
import type { DirectoryDependencies } from '../../domain/directory/reads.js';
import type { TokenIssuer } from '../../domain/sign-on/sign-on.js';
import type { SendingDependencies } from '../../domain/webhooks/sending/sending.js';
import type { AnyMethod, CallContext, Handler, ServedService } from '../handlers.js';
import { PageTurns } from '../message-streams.js';
import { directoryService } from './directory.js';
import { type MaintenanceDependencies, maintenanceService } from './maintenance.js';
import { operatorService } from './operator/index.js';
import type { OperatorDependencies } from './operator/write.js';
import { platformService } from './platform/index.js';
import type { PlatformDependencies } from './platform/write.js';
import { signOnService } from './sign-on/index.js';
import { deliveryService } from './webhooks/delivery-service.js';
import type { WebhookDependencies } from './webhooks/dependencies.js';
import { webhookService } from './webhooks/index.js';

interface ServiceDependencies {
  directory: DirectoryDependencies;
  maintenance: MaintenanceDependencies;
  platform: PlatformDependencies;
  operator: OperatorDependencies;
  signOn: TokenIssuer;
  webhooks: WebhookDependencies;
  deliveries: SendingDependencies;
}

export function allServices(
  { directory, maintenance, platform, operator, signOn, webhooks, deliveries }: ServiceDependencies,
  turns = new PageTurns(),
): ServedService[] {
  const services = [
    maintenanceService(maintenance),
    signOnService(signOn),
    deliveryService(deliveries),
    webhookService(webhooks),
    operatorService(operator),
    platformService(platform),
  ];
  // The directory reports its own: the first page of a long list is no short call.
  return [
    directoryService(directory, turns),
    ...services.map((service) => reportingShortCalls(namingLists(service), turns)),
  ];
}

/** The same service, reporting its unary calls to `turns`, so that pages of lists yield to them. */
function reportingShortCalls({ definition, handlers }: ServedService, turns: PageTurns): ServedService {
  const reporting = Object.entries(handlers).map(([name, handler]) => {
    const { requestStream, responseStream } = definition[name] as AnyMethod;
    const isShort = handler !== undefined && !requestStream && !responseStream;
    const reported: typeof handler = async (request: unknown, context: CallContext) => {
      try {
        return await handler?.(request, context);
      } finally {
        turns.shortCall();
      }
    };
    return [name, isShort ? reported : handler];
  });
  return { definition, handlers: Object.fromEntries(reporting) };
}

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
