import type { Schemas } from './contract-json.js';

export interface Named {
  id: string;
  name: string;
}

/** The platform uses these types of the gateway too. */
export type Address = Schemas['Address'];
export type UserStatus = Schemas['UserStatus'];
export type Manager = Schemas['UserManager'];

/** The statuses in which a user may sign in. A worker may until they are offboarded. */
export const MAY_SIGN_IN: readonly UserStatus[] = ['ACTIVE', 'INVITED'];
