import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Document } from 'openapi-backend';
import type { operations as GatewayOperations } from '../../generated/openapi/gateway.js';
import type { operations } from '../../generated/openapi/sign-on.js';
import { DirectoryServiceService } from '../../generated/proto/integration/directory/v1/directory.js';
import { SignOnServiceService } from '../../generated/proto/integration/sign_on/v1/sign_on.js';
import { packageRoot } from '../config/package.js';
import { AtOnce } from '../fairness/at-once.js';
import { AccessTokenVerifier } from '../keys/access-token-verifier.js';
import type { RpcChannel } from '../rpc/client.js';
import type { Log } from '../telemetry/log.js';
import type { Admission } from './contract/admission.js';
import { type ContractApi, createContractApi } from './contract/contract-api.js';
import type { Handlers } from './contract/typed-handler.js';
import { apiKeySecurity, type Identity } from './gateway/api-key.js';
import { ChangeNews } from './gateway/change-news.js';
import * as gatewayHandlers from './gateway/index.js';
import type { GatewayDependencies } from './gateway/read.js';
import { RequestsUnderWay } from './gateway/requests-under-way.js';
import type { Dispatch } from './http/exchange.js';
import { EntityTags, withGzip } from './http/representations.js';
import { toProblem } from './problem.js';
import { SessionCookieJar } from './sign-on/browser.js';
import { signOnErrors } from './sign-on/error-answer.js';
import * as signOnHandlers from './sign-on/index.js';
import { PageWriter, withFrontPage } from './sign-on/page-writer.js';
import type { OAuthOperation, SignOnDependencies } from './sign-on/sign-on-handler.js';

/** Pages of lists in each turn of the event loop. */
const PAGES_PER_TURN = 2;

/** The limit of the domain for an integration: one more list would be refused there, at a higher cost. */
const LISTS_PER_KEY = 64;
/** Requests that wait for a change, of one key. */
const WAITS_PER_KEY = 64;
/** Fewer than the lists that the domain reads at once. */
const WOKEN_READS = 16;
/** Then it is opened again. */
const WATCH_DEADLINE_MS = 600_000;

/** What the document describes at the sign-on server itself; the others are at the applications. */
type SignOnOperations = Omit<operations, `authorizationResponse${string}`>;

/** The steps of a sign-in, for which people wait. */
const SIGN_IN: ReadonlySet<string> = new Set<keyof operations>([
  'authorize',
  'authorizePost',
  'showSignIn',
  'signIn',
  'showContexts',
  'chooseContext',
  'showConsent',
  'consent',
  'token',
]);

interface ApiOptions {
  environment: 'live' | 'demo';
  /** The public address of the gateway, for links. */
  gatewayUrl: string;
  /** The public address of the sign-on server: its issuer. */
  signOnUrl: string;
  domain: RpcChannel;
  log: Log;
  /** Of all APIs of a process. */
  admission?: Admission;
  /** Ends requests that wait for a change. */
  stopping?: AbortSignal;
}

export async function createGatewayApi({
  environment,
  gatewayUrl,
  domain,
  log,
  admission,
  stopping,
}: Omit<ApiOptions, 'signOnUrl'>): Promise<Dispatch> {
  const { document, hash } = readContract('gateway');
  const directory = domain.clientOf(DirectoryServiceService);
  const news = new ChangeNews((signal) =>
    directory.watchChanges({}, { requestId: randomUUID(), deadlineMs: WATCH_DEADLINE_MS, signal }),
  );
  stopping?.addEventListener('abort', () => news.close());
  const { dispatch } = await createContractApi<GatewayOperations, GatewayDependencies, Identity>({
    document,
    handlers: gatewayHandlers satisfies Required<Handlers<GatewayOperations, GatewayDependencies, Identity>>,
    authenticate: apiKeySecurity(environment),
    dependencies: {
      directory,
      entityTags: new EntityTags(hash),
      lists: new RequestsUnderWay(LISTS_PER_KEY, 'lists are being read at once'),
      waits: new RequestsUnderWay(WAITS_PER_KEY, 'requests wait for changes'),
      news,
      wokenReads: new AtOnce(WOKEN_READS),
      pageTurns: new AtOnce(PAGES_PER_TURN),
      gatewayUrl,
    },
    toErrorAnswer: toProblem,
    log,
    admission,
  });
  return withGzip(dispatch);
}

export async function createSignOnApi({
  environment,
  gatewayUrl,
  signOnUrl,
  demoAppUrl,
  domain,
  log,
  admission,
}: ApiOptions & { demoAppUrl?: string }): Promise<ContractApi> {
  const { document } = readContract('sign-on');
  const signOn = domain.clientOf(SignOnServiceService);
  const pages = new PageWriter(environment);
  const fetchKeySet = (wantedKid?: string) => signOn.getKeySet({ wantedKid }, { requestId: randomUUID() });
  const contract = await createContractApi<SignOnOperations, SignOnDependencies, unknown, OAuthOperation>({
    document,
    handlers: signOnHandlers satisfies Required<
      Handlers<SignOnOperations, SignOnDependencies, unknown, OAuthOperation>
    >,
    // The domain authenticates: OAuth has a different error for each way to fail.
    authenticate: () => undefined,
    dependencies: {
      environment,
      signOnUrl,
      signOn,
      accessTokens: new AccessTokenVerifier({ issuer: signOnUrl, fetchKeySet }),
      cookies: new SessionCookieJar({ environment, signOnUrl }),
      pages,
    },
    toErrorAnswer: signOnErrors(pages),
    log,
    admission,
    isFirst: (operationId) => SIGN_IN.has(operationId),
  });
  const links = { docsUrl: `${gatewayUrl}/docs`, demoAppUrl };
  return { ...contract, dispatch: withFrontPage(pages, links, contract.dispatch) };
}

function readContract(name: 'gateway' | 'sign-on'): { document: Document; hash: string } {
  const bytes = readFileSync(join(packageRoot, 'generated/openapi', `${name}.json`));
  const hash = createHash('sha256').update(bytes).digest('base64url');
  return { document: JSON.parse(bytes.toString('utf8')) as Document, hash };
}
