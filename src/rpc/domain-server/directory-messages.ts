import { UserStatus } from '../../../generated/proto/integration/directory/v1/directory.js';
import type { InstanceIntegration } from '../../domain/directory/instance-integrations.js';
import type { User } from '../../domain/directory/users.js';

export function toInstanceIntegration(from: InstanceIntegration) {
  return { ...from, applicationInstance: { id: from.instanceId, instanceName: from.instanceName } };
}

export function toUser(user: User) {
  return { ...user, userId: user.id, status: UserStatus[user.status] };
}
