import type { InstanceId } from '../../../../generated/ids.js';
import type { PageRequest } from '../../directory/page.js';

/** One deployment of the platform. */
export interface Instance {
  id: InstanceId;
  name: string;
  version: string;
  createdAt: number;
  updatedAt: number;
}

export interface InstanceRows {
  find(id: string): Promise<Instance | undefined>;
  page(page: PageRequest): Promise<Instance[]>;
  insert(instance: Instance): Promise<void>;
  update(instance: Instance): Promise<void>;
  /** Public ids of the integrations that list the instance. */
  integrationsOf(id: InstanceId): Promise<string[]>;
}
