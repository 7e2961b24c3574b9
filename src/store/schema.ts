/** The tables as the newest migration leaves them. Times are milliseconds since 1970; hashes are base64url. */
export interface Schema {
  environment: EnvironmentTable;
  instances: InstancesTable;
  integrations: IntegrationsTable;
  instance_integrations: InstanceIntegrationsTable;
  api_keys: ApiKeysTable;
  service_tokens: ServiceTokensTable;
}

/** One row: which environment this database belongs to. */
interface EnvironmentTable {
  only_row: 1;
  name: 'live' | 'demo';
  created_at: number;
}

interface InstancesTable {
  id: string;
  name: string;
  created_at: number;
  updated_at: number;
}

interface IntegrationsTable {
  id: string;
  name: string;
  /** Random; rewritten by each change to what the integration's list of instance integrations shows. */
  version: string;
  created_at: number;
  updated_at: number;
}

interface InstanceIntegrationsTable {
  id: string;
  integration_id: string;
  instance_id: string;
  /** Null until the connection is set up; until then it reaches no client. */
  configured_at: number | null;
  created_at: number;
  updated_at: number;
}

interface ApiKeysTable {
  id: string;
  integration_id: string;
  hash: string;
  label: string;
  /** The first characters, so that people can tell their keys apart. */
  hint: string;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
}

interface ServiceTokensTable {
  id: string;
  kind: 'operator' | 'platform';
  hash: string;
  label: string;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
}
