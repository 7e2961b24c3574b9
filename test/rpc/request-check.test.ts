import { join } from 'node:path';
import { loadSync } from '@grpc/proto-loader';
import { describe, expect, test } from '@jest/globals';
import { misfitsOf } from '../../src/rpc/request-check.js';

const protoDir = join(import.meta.dirname, '../../proto');
const packages = loadSync('integration/platform/v1/platform.proto', { includeDirs: [protoDir] });
const misfits = (type: string, request: object) =>
  misfitsOf(packages, 'integration.platform.v1.PlatformService', type, request);

describe('a request made by hand', () => {
  test.each<{ title: string; type: string; request: object }>([
    { title: 'nothing', type: 'UpdateUserRequest', request: {} },
    { title: 'a text', type: 'UpdateUserRequest', request: { userId: 'usr_1', firstName: 'Ada' } },
    { title: 'null, which says nothing', type: 'UpdateUserRequest', request: { firstName: null } },
    { title: 'a message of a message', type: 'ImportRecordsRequest', request: { lines: { lines: [] } } },
    { title: 'a type nobody knows, which the server may judge', type: 'NoSuchRequest', request: { a: 1 } },
  ])('fits with $title', ({ type, request }) => {
    expect(misfits(type, request)).toEqual([]);
  });

  test.each<{ title: string; type: string; request: object; path: string; message: RegExp }>([
    {
      title: 'a misspelt field',
      type: 'UpdateUserRequest',
      request: { firstname: 'Ada' },
      path: 'firstname',
      message: /not a field/,
    },
    {
      title: 'a name of the prototype',
      type: 'UpdateUserRequest',
      request: { constructor: 'x' },
      path: 'constructor',
      message: /not a field/,
    },
    {
      title: 'a number for a text',
      type: 'UpdateUserRequest',
      request: { userId: 5 },
      path: 'userId',
      message: /a text/,
    },
    {
      title: 'a text for a message',
      type: 'ImportRecordsRequest',
      request: { lines: 'x' },
      path: 'lines',
      message: /an object/,
    },
    {
      title: 'one for a list',
      type: 'ImportRecordsRequest',
      request: { lines: { lines: {} } },
      path: 'lines.lines',
      message: /a list/,
    },
    {
      title: 'a misspelt field deep inside',
      type: 'ImportRecordsRequest',
      request: { lines: { lines: [{}, { nonsense: 1 }] } },
      path: 'lines.lines[1].nonsense',
      message: /not a field/,
    },
  ])('does not fit with $title, and hears where', ({ type, request, path, message }) => {
    expect(misfits(type, request)).toEqual([{ path, message: expect.stringMatching(message) }]);
  });
});
