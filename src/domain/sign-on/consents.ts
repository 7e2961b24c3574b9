import type { AccountId, ApplicationId, InstanceId } from '../../../generated/ids.js';

/** What an application sees of a person is another thing on each instance. */
export interface ConsentKey {
  accountId: AccountId;
  applicationId: ApplicationId;
  instanceId: InstanceId;
}

export interface ConsentRows {
  /** The scopes that the person has approved; none if they were never asked. */
  find(key: ConsentKey): Promise<readonly string[]>;
  /** Adds to those approved before. */
  give(key: ConsentKey, scopes: readonly string[], at: number): Promise<void>;
}
