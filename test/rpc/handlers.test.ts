import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createFileRegistry,
  type DescMessage,
  fromBinary,
  fromJson,
  ScalarType,
  toBinary,
} from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { OperatorServiceService as operator } from '../../generated/proto/integration/operator/v1/operator.js';
import { PlatformServiceService as platform } from '../../generated/proto/integration/platform/v1/platform.js';
import { WebhookServiceService as webhooks } from '../../generated/proto/integration/webhooks/v1/webhooks.js';
import { packageRoot } from '../../src/config/package.js';
import { ErrorCode } from '../../src/errors/service-error.js';
import type { CallOptions } from '../../src/rpc/call-metadata.js';
import { callersOf } from '../../src/rpc/callers.js';
import { serve } from '../../src/rpc/handlers.js';
import { refusalOf, rpcRigs, TOKENS } from './rig.js';

const OPTIONS: CallOptions = { requestId: 'r', deadlineMs: 20_000 };

const registry = createFileRegistry(
  fromBinary(FileDescriptorSetSchema, readFileSync(join(packageRoot, 'generated/proto/descriptors.binpb'))),
);
const inputs = new Map(
  [...registry]
    .flatMap((one) => (one.kind === 'service' ? one.methods : []))
    .map(({ parent, name, input }) => [`/${parent.typeName}/${name}`, input]),
);

/** The message with NUL in its own texts, of a oneof in the first, and the paths of these. */
function withNul(message: DescMessage): { bytes: Buffer; paths: string[] } {
  const texts = message.fields.filter(
    ({ scalar, oneof, number }) =>
      scalar === ScalarType.STRING && (oneof === undefined || oneof.fields[0]?.number === number),
  );
  const json = texts.map(({ name, fieldKind }) => [name, fieldKind === 'list' ? ['a', 'b\0'] : 'b\0']);
  return {
    bytes: Buffer.from(toBinary(message, fromJson(message, Object.fromEntries(json)))),
    paths: texts.map(({ name, fieldKind }) => (fieldKind === 'list' ? `${name}[1]` : name)),
  };
}

describe('NUL in a text', () => {
  const rigs = rpcRigs();

  const calls = [platform, operator, webhooks].flatMap((definition) =>
    Object.entries(definition)
      .filter(([, method]) => !method.requestStream)
      .map(([name, { path, requestDeserialize }]) => {
        const { bytes, paths } = withNul(inputs.get(path) as DescMessage);
        return { definition, name, path, request: requestDeserialize(bytes), paths };
      })
      .filter(({ paths }) => paths.length > 0),
  );

  test('is refused by every call of the platform and of operators, with the field', async () => {
    const rig = await rigs.start([serve(platform, {}), serve(operator, {}), serve(webhooks, {})]);
    expect(calls.length).toBeGreaterThan(90);
    for (const { definition, name, path, request, paths } of calls) {
      const [caller = 'platform'] = callersOf(path);
      const client = rig.channel(TOKENS[caller]).clientOf(definition) as unknown as Record<
        string,
        (request: unknown, options: CallOptions) => Promise<unknown> | AsyncIterable<unknown>
      >;
      const answer = client[name]?.(request, OPTIONS) as Promise<unknown> | AsyncIterable<unknown>;
      const refused = await refusalOf(
        Symbol.asyncIterator in answer ? answer[Symbol.asyncIterator]().next() : answer,
      );
      const violations = paths.map((each) => ({ path: each, message: 'must not contain NUL' }));
      expect({ name, code: refused.code, violations: refused.fieldViolations }).toEqual({
        name,
        code: ErrorCode.INVALID_REQUEST,
        violations: expect.arrayContaining(violations),
      });
      expect(refused.fieldViolations).toHaveLength(paths.length);
    }
  });

  test('is refused where it is deep in a request', async () => {
    const rig = await rigs.start([serve(platform, {})]);
    const unit = (name: string, subUnits: object[] = []) => ({ name, subUnits });
    const units = [unit('a'), unit('b', [unit('c\0')])] as never;
    const request = { clientId: 'cli_1', name: 'Team', units };
    const refused = await refusalOf(rig.channel().clientOf(platform).createUnitType(request, OPTIONS));
    expect(refused.fieldViolations.map(({ path }) => path)).toEqual(['units[1].sub_units[0].name']);
  });
});
