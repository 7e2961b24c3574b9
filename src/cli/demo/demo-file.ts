import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inspectApiKey } from '../../identifiers/api-key.js';
import { StartupError } from '../startup-error.js';

/** What scripts need in a demo environment. Kept in `$DATA_DIR/demo.json`, readable by its owner only. */
export interface DemoFile {
  baseUrl: string;
  gatewayUrl: string;
  grpcAddress: string;
  operatorToken: string;
  platformToken: string;
  supportToken: string;
  auditorToken: string;
  keyCustodianToken: string;
  /** The application that the demo runs. */
  demoAppUrl: string;
  /** The workflows of this environment. */
  temporalUiUrl: string | null;
  docsUrl: string | null;
  applications: DemoFileApplication[];
  people: DemoFilePerson[];
  apiKeys: DemoFileApiKey[];
}

/** The tokens that the file holds. */
export type DemoToken = Extract<keyof DemoFile, `${string}Token`>;

/** An application that people can sign in to. */
export interface DemoFileApplication {
  clientId: string;
  /** For confidential applications only. */
  clientSecret?: string;
  type: string;
  name: string;
  requirePkce: boolean;
  redirectUris: { uri: string; instanceId: string }[];
  scopes: string[];
}

/** A person to sign in as. */
export interface DemoFilePerson {
  email: string;
  password: string;
  /** What the sign-in shows. */
  note: string;
}

export interface DemoFileApiKey {
  key: string;
  integrationId: string;
  instanceIntegrationIds: string[];
}

type Guard<T> = (value: unknown) => value is T;

const isText: Guard<string> = (value) => typeof value === 'string';
const isBoolean: Guard<boolean> = (value) => typeof value === 'boolean';
const isTextOrNull: Guard<string | null> = (value) => value === null || isText(value);
const isTextLike = (pattern: RegExp): Guard<string> => {
  return (value): value is string => isText(value) && pattern.test(value);
};
const isListOf = <T>(isItem: Guard<T>): Guard<T[]> => {
  return (value): value is T[] => Array.isArray(value) && value.every(isItem);
};
const isObjectOf = <T extends object>(members: { [Name in keyof T]-?: Guard<T[Name]> }): Guard<T> => {
  return (value): value is T =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries<Guard<unknown>>(members).every(([name, isMember]) => isMember(Reflect.get(value, name)));
};

const isClientSecret = isTextLike(/^cs_demo_[0-9A-Za-z]{48}$/);
const isReturnAddress = isObjectOf<DemoFileApplication['redirectUris'][number]>({
  uri: isText,
  instanceId: isText,
});

const isApplication = isObjectOf<DemoFileApplication>({
  clientId: isText,
  clientSecret: (value): value is string | undefined => value === undefined || isClientSecret(value),
  type: isText,
  name: isText,
  requirePkce: isBoolean,
  redirectUris: isListOf(isReturnAddress),
  scopes: isListOf(isText),
});

const isPerson = isObjectOf<DemoFilePerson>({ email: isText, password: isText, note: isText });

const isApiKey = isObjectOf<DemoFileApiKey>({
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

/** Checks the type of each member. */
const members: { [Name in keyof DemoFile]: (value: unknown) => DemoFile[Name] | undefined } = {
  baseUrl: only(isText),
  gatewayUrl: only(isText),
  grpcAddress: only(isText),
  operatorToken: only(isTextLike(/^operator_demo_[0-9A-Za-z]{48}$/)),
  platformToken: only(isTextLike(/^platform_demo_[0-9A-Za-z]{48}$/)),
  supportToken: only(isTextLike(/^support_demo_[0-9A-Za-z]{48}$/)),
  auditorToken: only(isTextLike(/^auditor_demo_[0-9A-Za-z]{48}$/)),
  keyCustodianToken: only(isTextLike(/^key_custodian_demo_[0-9A-Za-z]{48}$/)),
  demoAppUrl: only(isText),
  temporalUiUrl: only(isTextOrNull),
  docsUrl: only(isTextOrNull),
  applications: goodOnes(isApplication),
  people: goodOnes(isPerson),
  apiKeys: goodOnes(isApiKey),
};

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

/** Renames a complete file into place: a concurrent reader sees the old content or the new. */
export function writeDemoFile(path: string, content: DemoFile): void {
  const staged = `${path}.new`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    rmSync(staged, { force: true });
    writeFileSync(staged, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
    renameSync(staged, path);
  } catch (error) {
    throw new StartupError(`The file ${path} cannot be written: ${(error as Error).message}.`);
  }
}
