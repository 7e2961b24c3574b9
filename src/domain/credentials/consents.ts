import type { AccountId, ApplicationId, InstanceId } from '../../../generated/ids.js';

/** Per instance: an application sees different data on each. */
export interface ConsentKey {
  accountId: AccountId;
  applicationId: ApplicationId;
  instanceId: InstanceId;
}

export interface Consent extends ConsentKey {
  scopes: readonly string[];
  /** When the person last approved. */
  givenAt: number;
}

export interface ConsentRows {
  /** In the order of application and instance. */
  page(
    accountId: AccountId,
    after: Omit<ConsentKey, 'accountId'> | undefined,
    limit: number,
  ): Promise<Consent[]>;
  /** The approved scopes; empty if the person was never asked. */
  find(key: ConsentKey): Promise<readonly string[]>;
  /** Adds to the scopes approved before. */
  give(key: ConsentKey, scopes: readonly string[], at: number): Promise<void>;
  /** Returns whether the person had approved before. */
  withdraw(key: ConsentKey): Promise<boolean>;
}
