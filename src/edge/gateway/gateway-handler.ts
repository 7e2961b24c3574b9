import type { operations } from '../../../generated/openapi/gateway.js';
import type { Handler } from '../contract/typed-handler.js';
import type { Identity } from './api-key.js';
import type { GatewayDependencies } from './dependencies.js';

export type GatewayHandler<Id extends keyof operations> = Handler<
  operations[Id],
  GatewayDependencies,
  Identity
>;
