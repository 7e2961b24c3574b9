import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createFileRegistry,
  type DescMessage,
  fromBinary,
  type JsonObject,
  type JsonValue,
} from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { misfitsOf } from '../../src/rpc/request-check.js';

const descriptors = readFileSync(join(import.meta.dirname, '../../generated/proto/descriptors.binpb'));
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptors));
const misfits = (type: string, request: JsonObject) =>
  misfitsOf(registry.getMessage(`integration.${type}`) as DescMessage, request);

describe('a request made by hand', () => {
  test.each<{ title: string; type: string; request: JsonObject }>([
    { title: 'nothing', type: 'platform.v1.UpdateUserRequest', request: {} },
    {
      title: 'a string',
      type: 'platform.v1.UpdateUserRequest',
      request: { userId: 'usr_1', firstName: 'Ada' },
    },
    {
      title: 'null, which says nothing',
      type: 'platform.v1.UpdateUserRequest',
      request: { firstName: null },
    },
    {
      title: 'a message of a message',
      type: 'platform.v1.ImportRecordsRequest',
      request: { lines: { lines: [] } },
    },
    {
      title: 'a field by its name in the contract',
      type: 'platform.v1.UpdateUserRequest',
      request: { user_id: 'usr_1' },
    },
    {
      title: 'a time and a mask as texts',
      type: 'operator.v1.UpdateApiKeyRequest',
      request: { expiresAt: '2027-01-01T00:00:00Z', updateMask: 'expiresAt' },
    },
  ])('fits with $title', ({ type, request }) => {
    expect(misfits(type, request)).toEqual([]);
  });

  test.each<{ title: string; type: string; request: JsonObject; path: string; message: RegExp }>([
    {
      title: 'a misspelt field',
      type: 'platform.v1.UpdateUserRequest',
      request: { firstname: 'Ada' },
      path: 'firstname',
      message: /not a field/,
    },
    {
      title: 'a name of the prototype',
      type: 'platform.v1.UpdateUserRequest',
      request: { constructor: 'x' },
      path: 'constructor',
      message: /not a field/,
    },
    {
      title: 'a number for a string',
      type: 'platform.v1.UpdateUserRequest',
      request: { userId: 5 },
      path: 'userId',
      message: /a string/,
    },
    {
      title: 'a text for a message',
      type: 'platform.v1.ImportRecordsRequest',
      request: { lines: 'x' },
      path: 'lines',
      message: /an object/,
    },
    {
      title: 'one for a list',
      type: 'platform.v1.ImportRecordsRequest',
      request: { lines: { lines: {} } },
      path: 'lines.lines',
      message: /a list/,
    },
    {
      title: 'a number that is too large',
      type: 'operator.v1.ListIntegrationsRequest',
      request: { pageSize: 5e12 },
      path: 'pageSize',
      message: /a number \(uint32\)/,
    },
    {
      title: 'no value of the enum',
      type: 'platform.v1.ListUsersRequest',
      request: { statuses: ['USER_STATUS_ACTIVE', 'GONE'] },
      path: 'statuses[1]',
      message: /one of USER_STATUS_UNSPECIFIED, /,
    },
    {
      title: 'half of a surrogate pair',
      type: 'platform.v1.UpdateUserRequest',
      request: { firstName: 'Ada \ud800' },
      path: 'firstName',
      message: /^must be valid Unicode, without halves of surrogate pairs$/,
    },
    {
      title: 'a text that is no time',
      type: 'operator.v1.UpdateApiKeyRequest',
      request: { expiresAt: 'tomorrow' },
      path: 'expiresAt',
      message: /RFC 3339/,
    },
    {
      title: 'two of which there may be one',
      type: 'platform.v1.ImportRecordsRequest',
      request: { lines: { lines: [{ client: {}, user: {} }] } },
      path: 'lines.lines[0]',
      message: /set multiple times by client and user/,
    },
    {
      title: 'a misspelt field deep inside',
      type: 'platform.v1.ImportRecordsRequest',
      request: { lines: { lines: [{}, { nonsense: 1 }] } },
      path: 'lines.lines[1].nonsense',
      message: /not a field/,
    },
    {
      title: 'units far below each other',
      type: 'platform.v1.CreateUnitRequest',
      request: JSON.parse(`${'{"subUnits":['.repeat(5_000)}{"nmae":"x"}${']}'.repeat(5_000)}`),
      path: 'subUnits[0].'.repeat(101).slice(0, -1),
      message: /100 levels/,
    },
  ])('does not fit with $title, and learns where', ({ type, request, path, message }) => {
    expect(misfits(type, request)).toEqual([{ path, message: expect.stringMatching(message) }]);
  });

  test('gets all faults at once', () => {
    const lines: JsonValue[] = [
      { client: { nmae: 'x', name: 5 } },
      'text',
      { user: { email: true }, line: [] },
    ];
    expect(misfits('platform.v1.ImportRecordsRequest', { lines: { lines } })).toEqual([
      { path: 'lines.lines[0].client.nmae', message: 'is not a field here' },
      { path: 'lines.lines[0].client.name', message: 'must be a string' },
      { path: 'lines.lines[1]', message: 'must be an object' },
      { path: 'lines.lines[2].user.email', message: 'must be a string' },
      { path: 'lines.lines[2].line', message: 'must be a number (uint32)' },
    ]);
  });
});
