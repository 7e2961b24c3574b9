/** Which rooms of the house each room may look into. A room not named for another is closed to it. */
interface Room {
  /** Regular expression of its files. */
  path: string;
  mayImport: string[];
  /** Only the types of these, which leave no trace when it runs. */
  mayImportTypesOf?: string[];
}

const generated = {
  ids: '^generated/ids\\.ts$',
  emailAddress: '^generated/email-address\\.ts$',
  problems: '^generated/problems\\.ts$',
  proto: '^generated/proto/',
  openapi: '^generated/openapi/',
  events: '^generated/asyncapi/',
};

export const rooms: Record<string, Room> = {
  config: { path: '^src/config/', mayImport: [] },
  telemetry: { path: '^src/telemetry/', mayImport: [] },
  errors: { path: '^src/errors/', mayImport: ['^generated/proto/integration/errors/'] },
  fairness: { path: '^src/fairness/', mayImport: [] },
  files: { path: '^src/files/', mayImport: [] },
  identifiers: { path: '^src/identifiers/', mayImport: [generated.ids] },
  domain: {
    path: '^src/domain/',
    mayImport: [
      '^src/errors/',
      '^src/fairness/',
      '^src/identifiers/',
      generated.ids,
      generated.emailAddress,
      generated.problems,
      generated.events,
    ],
    mayImportTypesOf: [generated.openapi],
  },
  keys: {
    path: '^src/keys/',
    mayImport: ['^src/domain/', '^src/errors/', '^src/files/', '^src/identifiers/', generated.ids],
  },
  passwords: { path: '^src/passwords/', mayImport: ['^src/domain/', '^src/errors/', '^src/fairness/'] },
  store: {
    path: '^src/store/',
    mayImport: [
      '^src/domain/',
      '^src/errors/',
      '^src/fairness/',
      '^src/files/',
      '^src/identifiers/',
      generated.ids,
      generated.events,
    ],
  },
  rpc: {
    path: '^src/rpc/(?!domain-server/)',
    mayImport: [
      // For the audit of calls.
      '^src/domain/(access/service-tokens|operator/audit|platform/changes)\\.ts$',
      '^src/errors/',
      '^src/fairness/',
      '^src/identifiers/network-address\\.ts$',
      '^src/telemetry/',
      generated.ids,
      generated.proto,
    ],
  },
  'domain server': {
    path: '^src/rpc/domain-server/',
    mayImport: ['^src/domain/', '^src/errors/', '^src/rpc/', generated.ids, generated.proto],
  },
  edge: {
    path: '^src/edge/',
    mayImport: [
      '^src/errors/',
      '^src/fairness/',
      '^src/identifiers/',
      '^src/telemetry/',
      '^src/config/package\\.ts$',
      '^src/keys/access-token-verifier\\.ts$',
      '^src/rpc/client\\.ts$',
      generated.ids,
      generated.openapi,
      generated.problems,
      generated.proto,
    ],
  },
  delivery: {
    path: '^src/delivery/',
    mayImport: [
      '^src/errors/',
      '^src/fairness/',
      '^src/identifiers/',
      '^src/telemetry/',
      '^src/config/package\\.ts$',
      '^src/rpc/client\\.ts$',
      '^workflows/backoff\\.ts$',
      generated.proto,
    ],
  },
  docs: {
    path: '^src/docs/',
    mayImport: [
      '^src/config/package\\.ts$',
      '^src/codegen/documents\\.ts$',
      '^src/domain/operator/audit-types\\.ts$',
      '^src/edge/docs/site-file\\.ts$',
      '^src/edge/pages/(html|icons|tokens)\\.ts$',
      '^src/telemetry/metric-list\\.ts$',
    ],
  },
  codegen: { path: '^src/codegen/', mayImport: [] },
  generated: { path: '^generated/', mayImport: ['^src/rpc/bytes\\.ts$'] },
  'sdk packaging': { path: '^src/sdk/packaging/', mayImport: [] },
  'workflow definitions': {
    path: '^workflows/definitions/',
    mayImport: ['^workflows/contract\\.ts$'],
    mayImportTypesOf: ['^workflows/activities/'],
  },
  'workflow activities': { path: '^workflows/activities/', mayImport: ['^workflows/contract\\.ts$'] },
  'workflows contract': { path: '^workflows/contract\\.ts$', mayImport: [] },
  workflows: { path: '^workflows/(?!definitions/|activities/|contract\\.ts)', mayImport: ['^workflows/'] },
  cli: { path: '^src/cli/', mayImport: ['^src/(?!codegen/)', '^workflows/(?!definitions/)', '^generated/'] },
};

const OURS = '^(src|workflows|generated|test)/';

/** Started by people, builds and as threads, so that nothing imports them. */
const ENTRY_POINTS = [
  '^src/cli/main\\.ts$',
  '^src/cli/demo/reset\\.ts$',
  '^src/codegen/main\\.ts$',
  '^src/docs/main\\.ts$',
  // As they are, for browsers.
  '^src/docs/assets/',
  '^src/passwords/password-thread\\.ts$',
  '^src/sdk/packaging/main\\.ts$',
  '^src/store/dialects/checkpoint-thread\\.ts$',
  '^workflows/bundle\\.ts$',
  '^workflows/definitions/index\\.ts$',
  '^workflows/dev-server/install\\.ts$',
];

/** The rules as dependency-cruiser takes them. */
export const ruleSet = {
  forbidden: [
    ...Object.entries(rooms).flatMap(([name, { path, mayImport, mayImportTypesOf = [] }]) => [
      {
        name: `${name} imports what it may not`,
        severity: 'error' as const,
        from: { path },
        to: { path: OURS, pathNot: [path, ...mayImport, ...mayImportTypesOf] },
      },
      ...mayImportTypesOf.map((typesOf) => ({
        name: `${name} may import types only`,
        severity: 'error' as const,
        from: { path },
        to: { path: typesOf, dependencyTypesNot: ['type-only' as const] },
      })),
    ]),
    {
      name: 'workflow definitions use one package only',
      severity: 'error' as const,
      from: { path: '^workflows/definitions/' },
      to: { pathNot: ['^workflows/', '^node_modules/@temporalio/workflow/'] },
    },
    {
      name: 'the worker loads the SDK of Temporal late',
      severity: 'error' as const,
      from: { path: '^(workflows|src/cli/roles)/worker\\.ts$' },
      to: {
        path: '^(node_modules/@temporalio/|workflows/(activities/|(session|runtime|retry-batches|code-minutes)\\.ts$)|src/cli/roles/temporal/work\\.ts$)',
        dynamic: false,
        dependencyTypesNot: ['type-only' as const],
      },
    },
    {
      name: 'nothing imports in a circle',
      severity: 'error' as const,
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only' as const] } },
    },
    {
      name: 'every module is used',
      severity: 'error' as const,
      from: { path: ENTRY_POINTS },
      to: { path: '^(src|workflows)/', pathNot: ENTRY_POINTS, reachable: false },
    },
    {
      name: 'every import is found',
      severity: 'error' as const,
      // Browsers resolve the others by address, and only the bundler finds the SDK.
      from: { path: '^(src|workflows)/', pathNot: '^src/docs/assets/|^src/cli/commands/sync/sdk\\.ts$' },
      to: { couldNotResolve: true },
    },
  ],
};
