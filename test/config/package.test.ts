import { expect, test } from '@jest/globals';
import { unsuitableNode } from '../../src/config/package.js';

test.each([
  ['20.19.0', '>=20.19'],
  ['20.20.2', '>=20.19'],
  ['24.0.0', '>=20.19'],
  ['20.20.2', '20.x'],
  ['24.21.0', '^22.14 || >=23.6'],
  ['22.14.0', '^22.14 || >=23.6'],
  ['23.6.0', '^22.14 || >=23.6'],
])('Node %s runs a package for %s', (version, range) => {
  expect(unsuitableNode(version, range)).toBeUndefined();
});

test.each([
  ['20.18.3', '>=20.19'],
  ['18.20.8', '>=20.19'],
  ['24.21.0', '20.x'],
  ['22.13.1', '^22.14 || >=23.6'],
  ['23.5.0', '^22.14 || >=23.6'],
])('Node %s does not run a package for %s, and the message says which does', (version, range) => {
  expect(unsuitableNode(version, range)).toBe(`This package needs Node ${range}; this is ${version}.`);
});

test('this Node runs this package', () => {
  expect(unsuitableNode()).toBeUndefined();
});
