import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Document,
  type Media,
  type Operation,
  type PathItem,
  placed,
  type Schema,
} from './documents.js';
import { ASYNCAPI_DOCUMENT, documents, generatedDir, releasedDir, root } from './layout.js';
import { oasdiffPath } from './oasdiff.js';
import { inScratch, mustRun, runTool } from './run-tool.js';
import { bundlePath, readBundle } from './steps/bundles.js';
import { withoutChecks } from './steps/sdk-contract.js';

const SEVERITIES = join(root, 'openapi/oasdiff-severities.txt');
const PROTO_IMAGE = join(releasedDir, 'proto.binpb');

/** Changes that break integrators or peers of the released version, a line each. */
export async function breakingChanges(outDir: string, against = releasedDir): Promise<string[]> {
  const found: string[] = [];
  for (const name of documents) {
    const [released, present] = await Promise.all([readBundle(against, name), readBundle(outDir, name)]);
    const broken = await breakingInDocument(name, released, present);
    found.push(...broken.map((line) => `${name}: ${line}`));
  }
  const broken = await breakingInProto(join(root, 'proto'));
  return [...found, ...broken.map((line) => `gRPC: ${line}`)];
}

/** Makes the present contracts the released ones, unless they break those of before. */
export async function release(outDir = generatedDir, into = releasedDir): Promise<void> {
  const broken = await breakingChanges(outDir, into);
  if (broken.length > 0) {
    throw new Error(`The present contracts break the released ones:\n${broken.join('\n')}`);
  }
  for (const name of documents) {
    await cp(bundlePath(outDir, name), bundlePath(into, name));
  }
  await mustRun('buf', ['build', 'proto', '--exclude-source-info', '-o', PROTO_IMAGE]);
}

/** Compares two bundles of one contract. */
export function breakingInDocument(name: string, released: Document, present: Document): Promise<string[]> {
  return inScratch(async (scratch) => {
    const paths = [join(scratch, 'released.json'), join(scratch, 'present.json')] as const;
    const comparable = (document: Document) =>
      JSON.stringify(name === ASYNCAPI_DOCUMENT ? asOpenapi(document) : withoutPages(document));
    const asSdksRead = name === ASYNCAPI_DOCUMENT ? (document: Document) => document : withoutChecks;
    await writeFile(paths[0], comparable(released));
    await writeFile(paths[1], comparable(present));
    const rules = ['--fail-on=ERR', `--severity-levels=${SEVERITIES}`, '--deprecation-days-stable=365'];
    const options = [...rules, '--flatten-params', '--format=json'];
    const { exitCode, output } = await runTool(await oasdiffPath(), ['breaking', ...paths, ...options]);
    return [
      ...changedCredentials(released, present),
      ...neededSince(released, present),
      ...requiredSince(asSdksRead(released), asSdksRead(present)),
      ...(exitCode === 0 ? [] : summarised(output)),
    ];
  });
}

/** oasdiff does not compare where and how a credential is sent. */
function changedCredentials(released: Document, present: Document): string[] {
  const sent = ({ components }: Document, name: string) => {
    const { type, scheme, in: place, name: field } = components.securitySchemes[name] ?? { type: 'none' };
    return [type, scheme, place, field].join();
  };
  return Object.keys(released.components.securitySchemes)
    .filter((name) => sent(released, name) !== sent(present, name))
    .map((name) => `the credential \`${name}\` is sent in another way`);
}

/** Each released way to authenticate must still suffice; oasdiff takes its end for harmless or misses it. */
function neededSince(released: Document, present: Document): string[] {
  const now = new Map(placed(present.paths ?? {}).map(({ operation }) => [operation.operationId, operation]));
  return placed(released.paths ?? {}).flatMap(({ operation }) => {
    const next = now.get(operation.operationId);
    if (!next || operation['x-internal']) {
      return [];
    }
    const suffices = (way: Way) => waysToCall(next, present).some((needed) => isWithin(needed, way));
    const allSuffice = waysToCall(operation, released).every(suffices);
    return allSuffice ? [] : [`\`${operation.operationId}\` needs another credential`];
  });
}

/** The credentials that a call needs together, each with its scopes. */
type Way = Readonly<Record<string, readonly string[]>>;

function waysToCall({ security: own }: Operation, { security = [] }: Document): readonly Way[] {
  const ways = own ?? security;
  return ways.length > 0 ? ways : [{}];
}

function isWithin(needed: Way, way: Way): boolean {
  return Object.entries(needed).every(
    ([name, scopes]) => name in way && scopes.every((scope) => way[name]?.includes(scope)),
  );
}

/** SDKs also check answers of earlier services and repeated events, which lack members that came later. */
function requiredSince(released: Document, present: Document): string[] {
  return Object.entries(released.components.schemas).flatMap(([name, { required: before = [] }]) => {
    const { required = [] } = present.components.schemas[name] ?? {};
    const added = required.filter((member) => !before.includes(member));
    return added.map((member) => `\`${name}.${member}\` is required, and was not before (openapi/README.md)`);
  });
}

export async function breakingInProto(protoDir: string): Promise<string[]> {
  const { exitCode, output } = await runTool('buf', ['breaking', protoDir, '--against', PROTO_IMAGE]);
  return exitCode === 0 ? [] : output.trim().split('\n');
}

interface OasdiffFinding {
  text: string;
  operation: string;
  path: string;
  level: number;
}

const ERROR_LEVEL = 3;

/** A shared schema breaks in many operations; this reports one line with the first place. */
function summarised(output: string): string[] {
  const places = new Map<string, string[]>();
  for (const { text, operation, path, level } of findingsOf(output)) {
    if (level >= ERROR_LEVEL) {
      const what = text.replace(/ for the response status `?\w+`?/, '').replaceAll("'", '`');
      places.set(what, [...(places.get(what) ?? []), `${operation} ${path}`]);
    }
  }
  return [...places].map(([what, where]) => {
    const others = where.length > 1 ? ` and ${where.length - 1} more` : '';
    return `${what} (${where[0]}${others})`;
  });
}

function findingsOf(output: string): OasdiffFinding[] {
  try {
    return JSON.parse(output.slice(output.indexOf('['), output.lastIndexOf(']') + 1)) as OasdiffFinding[];
  } catch {
    return [{ text: output.trim(), operation: '', path: '', level: ERROR_LEVEL }];
  }
}

/** Pages for browsers may change at any time. */
function withoutPages({ webhooks = {}, ...document }: Document): unknown {
  const isPage = (operation: object) => (operation as Operation)['x-internal'] === true;
  const kept = Object.entries(document.paths).map(([path, item]) => [
    path,
    Object.fromEntries(Object.entries(item).filter(([, operation]) => !isPage(operation))),
  ]);
  return { ...document, paths: { ...Object.fromEntries(kept), ...whatArrives(webhooks) } };
}

/** What a browser sends to integrators. Here `x-internal` only tells generators to leave it out. */
function whatArrives(webhooks: Record<string, PathItem>): object {
  const sent = placed(webhooks).map(({ path, method, parameters, operation }) => {
    const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name);
    const properties = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));
    const content = operation.requestBody?.content ?? {};
    return [
      `/${path}/${method}`,
      sending(operation.operationId, content, { type: 'object', required, properties }),
    ];
  });
  return Object.fromEntries(sent);
}

/** Each event as an answer that contains it. */
function asOpenapi({ info, components }: Document): unknown {
  const paths = Object.entries(components.messages ?? {}).map(([type, { headers, payload }]) => [
    `/${type}`,
    sending(type, { 'application/json': { schema: payload } }, headers),
  ]);
  return {
    openapi: '3.1.0',
    info,
    paths: Object.fromEntries(paths),
    components: { schemas: components.schemas },
  };
}

/** What we send, as answers of an invented operation, which may gain members but not lose or change them. */
function sending(operationId: string, content: Record<string, Media>, headers: Schema): PathItem {
  const sent = { description: operationId, content };
  const beside = { description: 'headers or query', content: { 'application/json': { schema: headers } } };
  return { get: { operationId, summary: '', responses: { 200: sent, default: beside } } };
}
