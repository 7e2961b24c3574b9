import { breakingChanges } from './breaking.js';
import { generateInto } from './generate.js';
import { documents, generatedDir, redoclyConfig, sourceOf } from './layout.js';
import { hashesBelow } from './manifest.js';
import { inScratch, runTool } from './run-tool.js';

interface Finding {
  title: string;
  lines: readonly string[];
  mend: string;
}

const LINTERS: [title: string, command: string, args: string[], mend: string][] = [
  [
    'The HTTP and event contracts have lint findings',
    'redocly',
    ['lint', '--config', redoclyConfig, ...documents.map(sourceOf)],
    'edit the documents in openapi/',
  ],
  ['The gRPC contract has lint findings', 'buf', ['lint', 'proto'], 'edit the files in proto/'],
  [
    'The gRPC contract is not formatted',
    'buf',
    ['format', 'proto', '--diff', '--exit-code'],
    'npx buf format proto --write',
  ],
];

/** Checks contracts and generated files; each finding comes with its remedy. */
export async function verify(): Promise<void> {
  const findings = [...(await lint()), ...(await inScratch(compareWithFreshlyMade))];
  for (const { title, lines, mend } of findings) {
    process.stderr.write(
      `\n${title}:\n${lines.map((line) => `  ${line}`).join('\n')}\n  To mend it: ${mend}\n`,
    );
  }
  if (findings.length > 0) {
    throw new Error(
      `verify found ${findings.length === 1 ? 'one thing' : `${findings.length} things`} to mend.`,
    );
  }
  process.stderr.write('The contracts are sound, and generated/ is what they say.\n');
}

async function lint(): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [title, command, args, mend] of LINTERS) {
    const { exitCode, output } = await runTool(command, args);
    if (exitCode !== 0) {
      findings.push({ title, lines: withoutBanner(output), mend });
    }
  }
  return findings;
}

/** Redocly prints a banner on older Node versions, which is no finding. */
function withoutBanner(output: string): string[] {
  return output.split('\n').filter((line) => line.trim() !== '' && !/^\s*[╔║╚]/.test(line));
}

async function compareWithFreshlyMade(fresh: string): Promise<Finding[]> {
  await generateInto(fresh);
  const findings = [
    {
      title: 'generated/ is not what the contracts say',
      lines: await compareFolders(generatedDir, fresh),
      mend: 'make generate',
    },
    {
      title: 'The change breaks what was released (openapi/released)',
      lines: await breakingChanges(fresh),
      mend: 'add instead of changing; what must go needs a new version of the path, package or dataVersion',
    },
  ];
  return findings.filter(({ lines }) => lines.length > 0);
}

/** Edited, missing or stray files, compared with the output of the contracts. */
export async function compareFolders(present: string, expected: string): Promise<string[]> {
  const [found, wanted] = await Promise.all([hashesBelow(present), hashesBelow(expected)]);
  return [...new Set([...found.keys(), ...wanted.keys()])].sort().flatMap((file) => {
    if (found.get(file) === wanted.get(file)) {
      return [];
    }
    return `${!found.has(file) ? 'missing' : wanted.has(file) ? 'differs' : 'stray  '}  ${file}`;
  });
}
