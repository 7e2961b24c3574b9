import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { generatedDir } from './layout.js';
import { MANIFEST, manifestOf } from './manifest.js';
import { generateBundles } from './steps/bundles.js';
import { generateComments } from './steps/comments.js';
import { generateEventTypes } from './steps/event-types.js';
import { generateGrpcStatuses } from './steps/grpc-statuses.js';
import { generateProto } from './steps/proto.js';
import { generateRights } from './steps/rights.js';
import { generateSdkEvents } from './steps/sdk-events.js';
import { generateSdkReads } from './steps/sdk-reads.js';
import { generateSdks } from './steps/sdks.js';
import { generateServerTypes } from './steps/server-types.js';
import { generateEmailAddress, generateIds, generateProblems } from './steps/shared-parts.js';

const steps: [title: string, step: (outDir: string) => Promise<void>][] = [
  ['gRPC messages and services', generateProto],
  ['rights of methods', generateRights],
  ['gRPC statuses of error codes', generateGrpcStatuses],
  ['comments of methods', generateComments],
  ['contract bundles', generateBundles],
  ['public ids', generateIds],
  ['rule of e-mail addresses', generateEmailAddress],
  ['statuses and messages of problems', generateProblems],
  ['server types', generateServerTypes],
  ['event types and schemas', generateEventTypes],
  ['event types in Python and Go', generateSdkEvents],
  ['clients in TypeScript, Python and Go', generateSdks],
  ['reads and models of the SDKs', generateSdkReads],
];

/** Fills a folder from the contracts; the manifest is last. */
export async function generateInto(outDir: string): Promise<void> {
  await mkdir(join(outDir, 'openapi'), { recursive: true });
  await mkdir(join(outDir, 'asyncapi'), { recursive: true });
  for (const [index, [title, step]] of steps.entries()) {
    await reported(`[${index + 1}/${steps.length}] ${title}`, step(outDir));
  }
  await writeFile(join(outDir, MANIFEST), await manifestOf(outDir));
}

/** Replaces generated/ as a whole, so that no obsolete file remains. */
export async function generate(fill = generateInto, into = generatedDir): Promise<void> {
  const scratch = await mkdtemp(join(dirname(into), '.generating-'));
  // Within the scratch folder, because mkdtemp makes one that only its owner can read.
  const fresh = join(scratch, 'generated');
  try {
    await mkdir(fresh);
    await fill(fresh);
    await rm(into, { recursive: true, force: true });
    await rename(fresh, into);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Prints how long a step took. */
async function reported(label: string, work: Promise<void>): Promise<void> {
  const startedAt = performance.now();
  const took = () => `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`;
  try {
    await work;
  } catch (error) {
    process.stderr.write(`${label} failed after ${took()}\n`);
    throw error;
  }
  process.stderr.write(`${label} ${took()}\n`);
}
