import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncapiDocument, generatedDir, openapiDocuments, releasedDir, root } from './layout.js';
import { oasdiffPath } from './oasdiff.js';
import { mustRun, runTool } from './run-tool.js';
import { readBundle } from './steps/bundles.js';

const SEVERITIES = join(root, 'openapi/oasdiff-severities.txt');
const PROTO_IMAGE = join(releasedDir, 'proto.binpb');

interface EventsDocument {
  info: { title: string; version: string };
  components: {
    messages: Record<string, { headers: unknown; payload: unknown }>;
    schemas: Record<string, unknown>;
  };
}

/** What an integrator or a peer of the released version would trip over, as text; empty when nothing. */
export async function breakingChanges(outDir = generatedDir): Promise<string[]> {
  const found: string[] = [];
  const scratch = await mkdtemp(join(tmpdir(), 'integration-breaking-'));
  try {
    for (const name of [...openapiDocuments, asyncapiDocument]) {
      const [released, present] = await Promise.all(
        [readBundle(releasedDir, name), readBundle(outDir, name)].map(async (bundle, index) => {
          const path = join(scratch, `${name}-${index === 0 ? 'released' : 'present'}.json`);
          const document = await bundle;
          const comparable = name === asyncapiDocument ? asOpenapi(document as never) : document;
          await writeFile(path, JSON.stringify(comparable));
          return path;
        }),
      );
      found.push(...(await compareDocuments(name, released as string, present as string)));
    }
  } finally {
    await rm(scratch, { recursive: true });
  }
  const { exitCode, output } = await runTool('buf', ['breaking', 'proto', '--against', PROTO_IMAGE]);
  return exitCode === 0 ? found : [...found, `gRPC contract:\n${output.trim()}`];
}

/** Makes the present contracts the released ones: from then on they are what must not break. */
export async function release(): Promise<void> {
  for (const name of [...openapiDocuments, asyncapiDocument]) {
    const folder = join(releasedDir, name === asyncapiDocument ? 'asyncapi' : 'openapi');
    await mkdir(folder, { recursive: true });
    const document = await readBundle(generatedDir, name);
    await writeFile(join(folder, `${name}.json`), `${JSON.stringify(document, null, 2)}\n`);
  }
  await mustRun('buf', ['build', 'proto', '--exclude-source-info', '-o', PROTO_IMAGE]);
}

async function compareDocuments(name: string, released: string, present: string): Promise<string[]> {
  const comparison = ['breaking', released, present, '--fail-on', 'ERR', '--severity-levels', SEVERITIES];
  const { exitCode, output } = await runTool(await oasdiffPath(), [...comparison, '--format', 'singleline']);
  if (exitCode === 0) {
    return [];
  }
  const lines = output.trim().replaceAll(released, `released ${name}`).replaceAll(present, name);
  return [`${name} contract:\n${lines}`];
}

/** Events as the answers of imaginary operations: what we send them may gain members, never lose or change them. */
function asOpenapi({ info, components }: EventsDocument): unknown {
  const paths = Object.entries(components.messages).map(([type, { headers, payload }]) => [
    `/${type}`,
    {
      get: {
        operationId: type,
        responses: {
          200: { description: type, content: { 'application/json': { schema: payload } } },
          default: { description: 'headers', content: { 'application/json': { schema: headers } } },
        },
      },
    },
  ]);
  return {
    openapi: '3.1.0',
    info,
    paths: Object.fromEntries(paths),
    components: { schemas: components.schemas },
  };
}
