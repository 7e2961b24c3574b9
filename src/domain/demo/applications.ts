import type { InstanceId } from '../../../generated/ids.js';
import { NO_LINKS, SCOPES } from '../operator/application-rules.js';
import type { Application, ApplicationLinks } from '../operator/rows/applications.js';
import { demoId } from './ids.js';

/** What differs between the seeded applications. */
export interface DemoApplication
  extends Pick<Application, 'id' | 'name' | 'type' | 'requirePkce' | 'firstParty' | 'allowedScopes'>,
    ApplicationLinks {
  postLogoutRedirectUris: readonly string[];
  redirectUris: readonly { uri: string; instanceId: InstanceId }[];
}

interface Plan
  extends Pick<DemoApplication, 'name' | 'type'>,
    Partial<Pick<DemoApplication, 'requirePkce' | 'firstParty'>> {
  key: string;
  /** Its local origin and, if it has one, its public origin. */
  origins: readonly string[];
  /** The URI scheme of an installed application. */
  scheme?: string;
}

const DEMO_APP_KEY = 'tidewater-timesheets';

/** The application that the demo runs itself. */
export const demoAppId = demoId('ApplicationId', DEMO_APP_KEY);

/** Its default address; DEMO_APP_PORT sets another port. */
const DEMO_APP_URL = 'http://localhost:4004';

const plansWith = (demoAppUrl: string): readonly Plan[] => [
  {
    key: 'brightledger-portal',
    name: 'Brightledger Portal',
    type: 'confidential',
    requirePkce: false,
    origins: ['http://localhost:8400', 'https://portal.brightledger.example.com'],
  },
  {
    key: 'brightledger-mobile',
    name: 'Brightledger Mobile',
    type: 'public',
    origins: ['http://localhost:8410'],
    scheme: 'com.example.brightledger',
  },
  {
    key: 'shiftwise-web',
    name: 'Shiftwise Web',
    type: 'confidential',
    origins: ['http://localhost:8420', 'https://app.shiftwise.example.com'],
  },
  {
    key: 'harborlight-dashboard',
    name: 'Harborlight Dashboard',
    type: 'confidential',
    firstParty: true,
    origins: ['http://localhost:8430', 'https://dashboard.harborlight.example.com'],
  },
  {
    key: DEMO_APP_KEY,
    name: 'Tidewater Timesheets',
    type: 'confidential',
    origins: [demoAppUrl, 'https://app.tidewater.example.com'],
  },
];

/** Each has, at each origin, one redirect URI per instance. */
export function demoApplications(
  instances: Readonly<Record<'harborlight' | 'juniper', InstanceId>>,
  demoAppUrl = DEMO_APP_URL,
): DemoApplication[] {
  return plansWith(demoAppUrl).map(({ key, origins, scheme, ...plan }) => {
    const roots = [...origins.map((origin) => `${origin}/`), ...(scheme ? [`${scheme}:/`] : [])];
    return {
      id: demoId('ApplicationId', key),
      requirePkce: true,
      firstParty: false,
      ...plan,
      allowedScopes: [...SCOPES],
      redirectUris: roots.flatMap((root) => [
        { uri: `${root}callback`, instanceId: instances.harborlight },
        { uri: `${root}juniper/callback`, instanceId: instances.juniper },
      ]),
      postLogoutRedirectUris: roots.map((root) => `${root}signed-out`),
      ...(key === DEMO_APP_KEY ? linksUnder(demoAppUrl) : NO_LINKS),
    };
  });
}

/** Pages of the application that the demo runs. */
function linksUnder(demoAppUrl: string): ApplicationLinks {
  return {
    logoUri: `${demoAppUrl}/logo.svg`,
    policyUri: `${demoAppUrl}/privacy`,
    tosUri: `${demoAppUrl}/terms`,
    initiateLoginUri: `${demoAppUrl}/sign-in`,
  };
}
