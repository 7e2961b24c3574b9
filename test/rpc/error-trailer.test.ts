import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFileRegistry, type DescMessage, fromBinary, toJson } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { Client, type ServiceError as Failure, Metadata, status } from '@grpc/grpc-js';
import { describe, expect, test } from '@jest/globals';
import { grpcStatusOf } from '../../generated/proto/grpc-statuses.js';
import { MaintenanceServiceService } from '../../generated/proto/integration/maintenance/v1/maintenance.js';
import { ErrorCode, type ErrorDetails, ServiceError } from '../../src/errors/service-error.js';
import { clientCredentials } from '../../src/rpc/connect.js';
import { toStatus } from '../../src/rpc/error-trailer.js';
import { serve } from '../../src/rpc/handlers.js';
import { rpcRigs, TOKENS } from './rig.js';

const descriptors = readFileSync(join(import.meta.dirname, '../../generated/proto/descriptors.binpb'));
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptors));
const MAX_TRAILERS = 8_192;

/** As a third-party library reads it, with the descriptors of google.rpc. */
function read(metadata: Metadata | undefined): unknown {
  const [bytes] = metadata?.get('grpc-status-details-bin') ?? [];
  const type = registry.getMessage('google.rpc.Status') as DescMessage;
  return toJson(type, fromBinary(type, bytes as Buffer), { registry });
}

const ofError = (code: ErrorCode, message: string, details?: ErrorDetails) =>
  read(toStatus(new ServiceError(code, message, details)).metadata as Metadata);

describe('the google.rpc.Status of a refusal', () => {
  const rigs = rpcRigs();

  test('names each field with its fault, over the wire', async () => {
    const fieldViolations = [
      { path: 'limit', message: 'must be less' },
      { path: 'näme', message: '„quoted“, 100 %' },
    ];
    const purgeExpired = async () => {
      throw new ServiceError(ErrorCode.INVALID_REQUEST, 'The request is invalid.', { fieldViolations });
    };
    const { address } = await rigs.start([serve(MaintenanceServiceService, { purgeExpired })]);
    const stranger = new Client(address, clientCredentials(address));
    const { path, requestSerialize, responseDeserialize } = MaintenanceServiceService.purgeExpired;
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${TOKENS.maintenance}`);
    const failure = await new Promise<Failure | null>((resolve) =>
      stranger.makeUnaryRequest(path, requestSerialize, responseDeserialize, { limit: 1 }, metadata, resolve),
    );
    stranger.close();
    expect(failure).toMatchObject({ code: status.INVALID_ARGUMENT, details: 'The request is invalid.' });
    expect(read(failure?.metadata)).toEqual({
      code: status.INVALID_ARGUMENT,
      message: 'The request is invalid.',
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
          reason: 'INVALID_REQUEST',
          domain: 'integration',
        },
        {
          '@type': 'type.googleapis.com/google.rpc.BadRequest',
          fieldViolations: fieldViolations.map(({ path: field, message: description }) => ({
            field,
            description,
          })),
        },
      ],
    });
  });

  test('says when to retry, and has no faults where no field is refused', () => {
    expect(ofError(ErrorCode.UNAVAILABLE, 'Later.', { retryAfterSeconds: 7 })).toEqual({
      code: status.UNAVAILABLE,
      message: 'Later.',
      details: [
        expect.objectContaining({ reason: 'UNAVAILABLE' }),
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' },
      ],
    });
  });

  test('has the code and the gRPC status of every refusal', () => {
    for (const code of Object.values(ErrorCode)) {
      expect(ofError(code, 'Words.')).toMatchObject({
        code: grpcStatusOf[code],
        details: [{ reason: code.replace('ERROR_CODE_', '') }],
      });
    }
  });

  test('never tells the internal message', () => {
    const said = ofError(ErrorCode.INTERNAL_ERROR, 'Words.', { internal: 'canary' });
    expect(JSON.stringify(said)).not.toContain('canary');
  });

  test.each([
    { title: 'many violations', message: 'Words.', path: 'records[0].organizationLocation.name' },
    { title: 'a long message', message: 'long '.repeat(10_000), path: 'records[0].name' },
    { title: 'a violation longer than the trailers', message: 'Words.', path: 'x'.repeat(10_000) },
  ])('leaves the trailers small enough for strict clients, with $title', ({ message, path }) => {
    const fieldViolations = Array.from({ length: 5_000 }, () => ({
      path,
      message: 'must be something else',
    }));
    const { details, metadata } = toStatus(
      new ServiceError(ErrorCode.INVALID_REQUEST, message, { fieldViolations, retryAfterSeconds: 1 }),
    );
    const fields: [string, string][] = [
      ['grpc-status', '3'],
      ['grpc-message', encodeURI(details ?? '')],
      ['content-type', 'application/grpc+proto'],
      ['date', new Date(0).toUTCString()],
      [':status', '200'],
    ];
    for (const [name, value] of Object.entries((metadata as Metadata).getMap())) {
      fields.push([name, (value as Buffer).toString('base64')]);
    }
    // RFC 9113 counts 32 bytes more for each field.
    const size = fields.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);
    expect(size).toBeLessThan(MAX_TRAILERS);
    expect(fields.map(([name]) => name)).toContain('integration-error-bin');
    expect(fields.map(([name]) => name)).toContain('grpc-status-details-bin');
  });
});
