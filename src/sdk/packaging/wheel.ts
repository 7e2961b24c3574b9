import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { zip } from './archives.js';
import { filesBelow, type PackageFile, type Sources, textFile } from './sources.js';

/** The parts of `pyproject.toml` that are used. */
interface Project {
  name: string;
  description: string;
  'requires-python': string;
  dependencies: string[];
  classifiers: string[];
}

const DISTRIBUTION = 'integration_service_sdk';
/** The folders of generated files: the clients are packages of their own. */
const GENERATED = ['gateway', 'sign-on', 'reads'];

/** A wheel for `pip install`: pure Python, from 3.10 on. */
export function wheel({ written, generated, version, licence }: Sources): Uint8Array {
  const folder = join(written, 'python');
  const { project } = parse(readFileSync(join(folder, 'pyproject.toml'), 'utf8'));
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  const info = `${DISTRIBUTION}-${version}.dist-info`;
  const files = [
    ...filesBelow(join(folder, 'integration_service'), 'integration_service/'),
    textFile('integration_service/events.py', readFileSync(join(generated, 'asyncapi/events.py'), 'utf8')),
    ...GENERATED.flatMap((part) => filesBelow(join(generated, 'sdk/python', part))),
    { path: `${info}/licenses/LICENSE`, content: licence.content },
    textFile(`${info}/METADATA`, metadata(project as unknown as Project, version, readme)),
    textFile(`${info}/WHEEL`, WHEEL),
  ];
  return zip([...files, textFile(`${info}/RECORD`, record(files, `${info}/RECORD`))]);
}

const WHEEL =
  'Wheel-Version: 1.0\nGenerator: integration-service\nRoot-Is-Purelib: true\nTag: py3-none-any\n';

/** Core metadata 2.4. */
function metadata(project: Project, version: string, readme: string): string {
  const fields = [
    ['Metadata-Version', '2.4'],
    ['Name', project.name],
    ['Version', version],
    ['Summary', project.description],
    ['License-Expression', 'Apache-2.0'],
    ['License-File', 'LICENSE'],
    ['Requires-Python', project['requires-python']],
    ...project.classifiers.map((classifier) => ['Classifier', classifier]),
    ...project.dependencies.map((dependency) => ['Requires-Dist', dependency]),
    ['Description-Content-Type', 'text/markdown'],
  ];
  return `${fields.map(([name, value]) => `${name}: ${value}\n`).join('')}\n${readme}`;
}

/** Every file with hash and size, except the record itself. */
function record(files: readonly PackageFile[], own: string): string {
  const lines = files.map(({ path, content }) => {
    const hash = createHash('sha256').update(content).digest('base64url');
    return `${path},sha256=${hash},${content.length}\n`;
  });
  return `${lines.sort().join('')}${own},,\n`;
}
