import { describe } from '@jest/globals';
import { describeBehaviour } from '../drivers/behaviour.js';
import { describeOwnBehaviour } from './own-behaviour.js';
import { typescriptDriver } from './typescript-driver.js';

describe('the SDK in TypeScript', () => {
  const driver = typescriptDriver();
  describeBehaviour(driver);
  describeOwnBehaviour(driver);
});
