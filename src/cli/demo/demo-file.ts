import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../files/folders.js';
import { writeWhole } from '../../files/staged.js';
import { inspectApiKey } from '../../identifiers/api-key.js';
import type { ServiceTokenKind } from '../../identifiers/service-token.js';
import { explaining, StartupError } from '../startup-error.js';

type Guard<T> = (value: unknown) => value is T;
type Guarded<G> = G extends Guard<infer T> ? T : never;
/** A member whose value may be undefined is optional. */
type ObjectOf<Members> = {
  [Name in keyof Members as undefined extends Guarded<Members[Name]> ? never : Name]: Guarded<Members[Name]>;
} & {
  [Name in keyof Members as undefined extends Guarded<Members[Name]> ? Name : never]?: Guarded<Members[Name]>;
};

const isText: Guard<string> = (value) => typeof value === 'string';
const isBoolean: Guard<boolean> = (value) => typeof value === 'boolean';
const isTextOrNull: Guard<string | null> = (value) => value === null || isText(value);
const isTextLike = (pattern: RegExp): Guard<string> => {
  return (value): value is string => isText(value) && pattern.test(value);
};
const isListOf = <T>(isItem: Guard<T>): Guard<T[]> => {
  return (value): value is T[] => Array.isArray(value) && value.every(isItem);
};
const isObjectOf = <Members extends Record<string, Guard<unknown>>>(members: Members) => {
  return (value: unknown): value is ObjectOf<Members> =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(members).every(([name, isMember]) => isMember(Reflect.get(value, name)));
};

const isClientSecret = isTextLike(/^cs_demo_[0-9A-Za-z]{48}$/);

/** An application that people can sign in to. */
const isApplication = isObjectOf({
  clientId: isText,
  /** For confidential applications only. */
  clientSecret: (value): value is string | undefined => value === undefined || isClientSecret(value),
  type: isText,
  name: isText,
  requirePkce: isBoolean,
  redirectUris: isListOf(isObjectOf({ uri: isText, instanceId: isText })),
  scopes: isListOf(isText),
});

/** A person to sign in as. The note is what the sign-in shows. */
const isPerson = isObjectOf({ email: isText, password: isText, note: isText });

const isApiKey = isObjectOf({
  key: (value): value is string => isText(value) && inspectApiKey(value, 'demo') === 'plausible',
  integrationId: isText,
  instanceIntegrationIds: isListOf(isText),
});

const only = <T>(isGood: Guard<T>) => {
  return (value: unknown) => (isGood(value) ? value : undefined);
};
const goodOnes = <T>(isGood: Guard<T>) => {
  return (value: unknown) => (Array.isArray(value) ? value.filter(isGood) : undefined);
};

/** The member with the service token of each kind. */
export const TOKEN_MEMBERS = {
  operator: 'operatorToken',
  platform: 'platformToken',
  support: 'supportToken',
  auditor: 'auditorToken',
  key_custodian: 'keyCustodianToken',
} as const satisfies Record<ServiceTokenKind, string>;

/** The members for tokens, each with what is made of its kind. */
export function ofTokens<T>(make: (kind: ServiceTokenKind) => T) {
  const members = Object.entries(TOKEN_MEMBERS).map(([kind, name]) => [name, make(kind as ServiceTokenKind)]);
  return Object.fromEntries(members) as Record<(typeof TOKEN_MEMBERS)[ServiceTokenKind], T>;
}

/** The members, each with the function that reads it. */
const members = {
  baseUrl: only(isText),
  gatewayUrl: only(isText),
  grpcAddress: only(isText),
  ...ofTokens((kind) => only(isTextLike(new RegExp(`^${kind}_demo_[0-9A-Za-z]{48}$`)))),
  /** The application that the demo runs. */
  demoAppUrl: only(isText),
  /** The workflows of this environment. */
  temporalUiUrl: only(isTextOrNull),
  docsUrl: only(isTextOrNull),
  applications: goodOnes(isApplication),
  people: goodOnes(isPerson),
  apiKeys: goodOnes(isApiKey),
};

/** What scripts need in a demo environment. Kept in `$DATA_DIR/demo.json`, readable by its owner only. */
export type DemoFile = {
  [Name in keyof typeof members]: Exclude<ReturnType<(typeof members)[Name]>, undefined>;
};

export type DemoFileApplication = Guarded<typeof isApplication>;
export type DemoFilePerson = Guarded<typeof isPerson>;

export function demoFilePath(dataDir: string): string {
  return join(dataDir, 'demo.json');
}

/** The valid members: the file may be cut off, older or edited. Undefined if there is no file. */
export function readDemoFile(path: string): Partial<DemoFile> | undefined {
  const content = objectIn(path);
  return (
    content &&
    Object.fromEntries(
      Object.entries(members)
        .map(([name, read]) => [name, read(Reflect.get(content, name))])
        .filter(([, value]) => value !== undefined),
    )
  );
}

function objectIn(path: string): object | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof content === 'object' && content !== null ? content : undefined;
  } catch {
    return undefined;
  }
}

/** A concurrent reader sees the old content or the new. */
export function writeDemoFile(path: string, content: DemoFile): void {
  const unwritable = (why: string) => `The file ${path} cannot be written: ${why}.`;
  explaining(StartupError, unwritable, () => {
    makeFolder(dirname(path));
    writeWhole(path, `${JSON.stringify(content, null, 2)}\n`);
  });
}
