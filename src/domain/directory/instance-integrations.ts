import type { InstanceId, InstanceIntegrationId, IntegrationId } from '../../../generated/ids.js';
import type { Gatekeeper } from '../access/gatekeeper.js';
import { type Answer, answer, type Question } from './answer.js';

/** The connection between an integration and one instance of the platform. */
export interface InstanceIntegration {
  id: InstanceIntegrationId;
  instanceId: InstanceId;
  instanceName: string;
  createdAt: number;
  updatedAt: number;
}

export interface InstanceIntegrationStore {
  /** One read: all instance integrations of the integration, oldest first, set up or not. */
  listOf(integrationId: IntegrationId): Promise<InstanceIntegration[]>;
}

export async function listInstanceIntegrations(
  gatekeeper: Gatekeeper,
  store: InstanceIntegrationStore,
  question: Question,
): Promise<Answer<InstanceIntegration[]>> {
  const visitor = await gatekeeper.admit(question);
  return answer(visitor, question, () => store.listOf(visitor.integrationId));
}
