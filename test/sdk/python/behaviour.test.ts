import { describeWith } from '../../support/toolchains.js';
import { describeBehaviour } from '../drivers/behaviour.js';
import { pythonDriver } from './python-driver.js';

describeWith('python', 'the SDK in Python', (python) => {
  describeBehaviour(pythonDriver(python));
});
