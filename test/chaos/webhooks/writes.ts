import { randomUUID } from 'node:crypto';
import { PlatformServiceService } from '../../../generated/proto/integration/platform/v1/platform.js';
import type { RpcChannel, RpcClient } from '../../../src/rpc/client.js';
import { call } from '../../flow/sign-on/environment.js';
import { patiently } from '../../support/eventually.js';
import { forEachOf } from '../patient-client.js';

const AT_ONCE = 16;

/** A client with one role, whose users all move when its permissions are edited. */
export class MovingCrowd {
  /** How many events were acknowledged. */
  moved = 0;
  #edits = 0;

  private constructor(
    private readonly platform: RpcClient<typeof PlatformServiceService>,
    readonly clientId: string,
    private roleId: string,
    readonly size: number,
  ) {}

  static async of(channel: RpcChannel, instanceId: string, size: number): Promise<MovingCrowd> {
    const platform = channel.clientOf(PlatformServiceService);
    const { client } = await platform.createClient({ instanceId, name: `Crowd ${randomUUID()}` }, call());
    const clientId = client?.id ?? '';
    const { role } = await platform.createRole({ clientId, name: 'Crew', permissions: ['start'] }, call());
    const roleId = role?.id ?? '';
    await forEachOf(Array.from({ length: size }), AT_ONCE, (_, index) =>
      platform.createUser(
        {
          clientId,
          roleId,
          email: `crew.${index}@${clientId.replaceAll('_', '-')}.example.com`.toLowerCase(),
          withoutManager: true,
        },
        call(),
      ),
    );
    return new MovingCrowd(platform, clientId, roleId, size);
  }

  /** One transaction, with an event for each of them. */
  async move(): Promise<void> {
    this.#edits += 1;
    const edit = {
      roleId: this.roleId,
      permissions: [`number ${this.#edits}`],
      userIds: [],
      idempotencyKey: randomUUID(),
    };
    const { role, repointedUsers } = await patiently('an edit', () =>
      this.platform.editRolePermissions(edit, { ...call(), deadlineMs: 30_000 }),
    );
    this.roleId = role?.id ?? '';
    this.moved += repointedUsers;
  }
}
