import type { Schemas } from './contract-json.js';

/** A name and an id. */
export interface Named {
  id: string;
  name: string;
}

/** The platform has these of the gateway as well. */
export type Address = Schemas['Address'];
export type UserStatus = Schemas['UserStatus'];
export type Manager = Schemas['UserManager'];
