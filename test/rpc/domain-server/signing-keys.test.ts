import { describe, expect, test } from '@jest/globals';
import {
  MaintenanceServiceService,
  SigningKeyStep,
} from '../../../generated/proto/integration/maintenance/v1/maintenance.js';
import { OperatorServiceService } from '../../../generated/proto/integration/operator/v1/operator.js';
import {
  SigningAlgorithm,
  type SigningKey,
  SigningKeyStatus,
} from '../../../generated/proto/integration/operator/v1/signing_keys.js';
import { ErrorCode } from '../../../src/errors/service-error.js';
import {
  type MaintenanceDependencies,
  maintenanceService,
} from '../../../src/rpc/domain-server/maintenance.js';
import { operatorService } from '../../../src/rpc/domain-server/operator/index.js';
import type { OperatorDependencies } from '../../../src/rpc/domain-server/operator/write.js';
import { DAY, HOUR, keyRig } from '../../domain/sign-on/keys/rig.js';
import { CALL, refusalOf, rpcRigs, TOKENS } from '../rig.js';

describe('signing keys over gRPC', () => {
  const rigs = rpcRigs();

  async function serving() {
    const keys = keyRig();
    const { rotation, clock } = keys;
    const rig = await rigs.start(
      [
        operatorService({ signingKeys: rotation, clock: clock.now } as OperatorDependencies),
        maintenanceService({ signingKeys: rotation } as MaintenanceDependencies),
      ],
      {
        authenticate: (token) =>
          token === TOKENS.key_custodian
            ? { caller: 'key_custodian', tokenId: 'tok_1' }
            : { caller: 'maintenance' },
      },
    );
    const custodian = rig.channel(TOKENS.key_custodian).clientOf(OperatorServiceService);
    const maintenance = rig.channel(TOKENS.maintenance).clientOf(MaintenanceServiceService);
    const rotate = (algorithms: SigningAlgorithm[], compromised = false) =>
      custodian.rotateSigningKeys({ algorithms, compromised }, CALL);
    const list = async () => (await custodian.listSigningKeys({}, CALL)).signingKeys;
    return { ...keys, custodian, rotate, list, advance: () => maintenance.advanceSigningKeys({}, CALL) };
  }

  const briefly = (signingKeys: SigningKey[]) =>
    signingKeys.map(({ kid, status }) => `${kid} ${status.replace('SIGNING_KEY_STATUS_', '')}`);

  test('are made by the first step of the schedule, which tells what it did and when the next is due', async () => {
    const { advance, clock } = await serving();
    const { changes, nextDueAt } = await advance();
    expect(changes).toHaveLength(6);
    expect(changes.slice(0, 2)).toEqual([
      { kid: 'RS256-1', step: SigningKeyStep.PUBLISHED },
      { kid: 'RS256-1', step: SigningKeyStep.ACTIVATED },
    ]);
    expect(nextDueAt).toEqual(new Date(clock.now() + 89 * DAY));
    await expect(advance()).resolves.toEqual({ changes: [], nextDueAt });
  });

  test('are listed with their times, newest first, and never with a private half', async () => {
    const { advance, list, rotate, clock } = await serving();
    await advance();
    const madeAt = new Date(clock.now());
    clock.advance(HOUR);
    await rotate([SigningAlgorithm.ES256]);
    const keys = await list();
    expect(briefly(keys)).toEqual([
      'ES256-4 PUBLISHED',
      'EdDSA-3 ACTIVE',
      'ES256-2 ACTIVE',
      'RS256-1 ACTIVE',
    ]);
    expect(keys[0]).toEqual({
      kid: 'ES256-4',
      algorithm: SigningAlgorithm.ES256,
      status: SigningKeyStatus.PUBLISHED,
      createdAt: new Date(madeAt.getTime() + HOUR),
      activatesAt: new Date(madeAt.getTime() + HOUR + DAY),
      supersededAt: undefined,
      retiresAt: undefined,
    });
    expect(JSON.stringify(keys)).not.toContain('sealed');
  });

  test('are superseded and retired by the schedule, and tell until when they are published', async () => {
    const { advance, list, rotate, clock } = await serving();
    await advance();
    await rotate([SigningAlgorithm.RS256]);
    clock.advance(DAY);
    const { changes } = await advance();
    expect(changes).toEqual([
      { kid: 'RS256-4', step: SigningKeyStep.ACTIVATED },
      { kid: 'RS256-1', step: SigningKeyStep.SUPERSEDED },
    ]);
    expect((await list()).find(({ kid }) => kid === 'RS256-1')).toMatchObject({
      status: SigningKeyStatus.SUPERSEDED,
      supersededAt: new Date(clock.now()),
      retiresAt: new Date(clock.now() + 25 * HOUR),
    });
    clock.advance(25 * HOUR);
    await expect(advance()).resolves.toMatchObject({
      changes: [{ kid: 'RS256-1', step: SigningKeyStep.RETIRED }],
    });
  });

  test('that leaked are withdrawn at once, and the operator is recorded as the actor', async () => {
    const { advance, rotate, clock, audited, reloads } = await serving();
    await advance();
    const { signingKeys } = await rotate([], true);
    expect(briefly(signingKeys).sort()).toEqual([
      'ES256-2 RETIRED',
      'ES256-5 ACTIVE',
      'EdDSA-3 RETIRED',
      'EdDSA-6 ACTIVE',
      'RS256-1 RETIRED',
      'RS256-4 ACTIVE',
    ]);
    expect(signingKeys.at(-1)?.retiresAt).toEqual(new Date(clock.now()));
    expect(audited.filter((line) => line.includes('withdrawn'))).toHaveLength(3);
    expect(audited.at(-1)).toMatch(/^service_token signing_key\.activated/);
    expect(reloads()).toBe(2);
  });

  test('are not all rotated when the named algorithm is unknown', async () => {
    const { advance, rotate, list } = await serving();
    await advance();
    const refusal = await refusalOf(rotate([SigningAlgorithm.RS256, SigningAlgorithm.UNSPECIFIED], true));
    expect(refusal).toMatchObject({
      code: ErrorCode.INVALID_REQUEST,
      fieldViolations: [{ path: 'algorithms[1]', message: 'must be RS256, ES256 or EdDSA' }],
    });
    expect(await list()).toHaveLength(3);
  });
});
