import { describeWith } from '../../support/toolchains.js';
import { describeBehaviour } from '../drivers/behaviour.js';
import { goDriver } from './go-driver.js';

describeWith('go', 'the SDK in Go', (go) => {
  describeBehaviour(goDriver(go));
});
