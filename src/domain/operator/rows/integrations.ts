import type { IntegrationId } from '../../../../generated/ids.js';
import type { PageRequest } from '../../directory/page.js';

/** An external system that reads the gateway and receives webhooks. */
export interface Integration {
  id: IntegrationId;
  name: string;
  /** The address to which the platform mails warnings about the integration. */
  contactEmail: string | null;
  version: string;
  createdAt: number;
  updatedAt: number;
}

export interface IntegrationRows {
  find(id: string): Promise<Integration | undefined>;
  /** Newest first. */
  page(page: PageRequest): Promise<Integration[]>;
  insert(integration: Integration): Promise<void>;
  update(integration: Integration): Promise<void>;
}
