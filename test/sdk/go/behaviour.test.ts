import { describeWith } from '../../support/toolchains.js';
import { describeBehaviour } from '../drivers/behaviour.js';
import { goDriver } from './go-driver.js';
import { describeOwnBehaviour } from './own-behaviour.js';

describeWith('go', 'the SDK in Go', (go) => {
  const driver = goDriver(go);
  describeBehaviour(driver);
  describeOwnBehaviour(driver);
});
