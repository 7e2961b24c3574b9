import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { strFromU8, unzipSync } from 'fflate';
import { wheel } from '../../../src/sdk/packaging/wheel.js';
import { temporaryDirectories } from '../../support/temporary-directory.js';
import { smallSources } from './small-sources.js';

const newDirectory = temporaryDirectories();
const INFO = 'integration_service_sdk-1.4.0.dist-info';

const contentOf = (bytes: Uint8Array) => unzipSync(bytes);

describe('the wheel', () => {
  test('contains the package with its handwritten and generated modules, both generated clients and the metadata', () => {
    expect(Object.keys(contentOf(wheel(smallSources(newDirectory()))))).toEqual([
      'integration_gateway/__init__.py',
      'integration_service/__init__.py',
      'integration_service/events.py',
      'integration_service/models.py',
      'integration_service/py.typed',
      `${INFO}/METADATA`,
      `${INFO}/RECORD`,
      `${INFO}/WHEEL`,
      `${INFO}/licenses/LICENSE`,
      'integration_sign_on/__init__.py',
    ]);
  });

  test('says its name, release and dependencies, and the README', () => {
    const metadata = strFromU8(
      contentOf(wheel(smallSources(newDirectory())))[`${INFO}/METADATA`] as Uint8Array,
    );
    expect(metadata.split('\n')).toEqual([
      'Metadata-Version: 2.4',
      'Name: integration-service-sdk',
      'Version: 1.4.0',
      'Summary: Says "hello" [twice].',
      'License-Expression: Apache-2.0',
      'License-File: LICENSE',
      'Requires-Python: >=3.10',
      'Classifier: Typing :: Typed',
      'Requires-Dist: PyJWT[crypto]>=2.10,<3',
      'Requires-Dist: urllib3>=2.2',
      'Description-Content-Type: text/markdown',
      '',
      '# Hello',
      '',
    ]);
  });

  test('records the hash and size of every file but its own list', () => {
    const files = contentOf(wheel(smallSources(newDirectory())));
    const { [`${INFO}/RECORD`]: record, ...others } = files;
    const expected = Object.entries(others).map(([path, content]) => {
      const hash = createHash('sha256').update(content).digest('base64url');
      return `${path},sha256=${hash},${content.length}`;
    });
    const lines = strFromU8(record as Uint8Array)
      .trim()
      .split('\n');
    expect(lines.sort()).toEqual([...expected, `${INFO}/RECORD,,`].sort());
  });
});
