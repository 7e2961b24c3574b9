import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generatedDir, root } from './layout.js';
import { MANIFEST, manifestOf } from './manifest.js';
import { reported } from './progress.js';
import { generateBundles } from './steps/bundles.js';
import { generateComments } from './steps/comments.js';
import { generateEmailAddress } from './steps/email-address.js';
import { generateEventTypes } from './steps/event-types.js';
import { generateIds } from './steps/ids.js';
import { generateProblems } from './steps/problems.js';
import { generateProto } from './steps/proto.js';
import { generateRights } from './steps/rights.js';
import { generateSdks } from './steps/sdks.js';
import { generateServerTypes } from './steps/server-types.js';

const steps: [title: string, step: (outDir: string) => Promise<void>][] = [
  ['gRPC messages and services', generateProto],
  ['rights of methods', generateRights],
  ['comments of methods', generateComments],
  ['contract bundles', generateBundles],
  ['public ids', generateIds],
  ['rule of e-mail addresses', generateEmailAddress],
  ['messages of problems', generateProblems],
  ['server types', generateServerTypes],
  ['event types and schemas', generateEventTypes],
  ['clients in TypeScript, Python and Go', generateSdks],
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
export async function generate(): Promise<void> {
  const fresh = await mkdtemp(join(root, '.generating-'));
  try {
    await generateInto(fresh);
    await rm(generatedDir, { recursive: true, force: true });
    await rename(fresh, generatedDir);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}
