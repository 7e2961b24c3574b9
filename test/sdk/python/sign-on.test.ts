import { describeWith } from '../../support/toolchains.js';
import { describeSignOn } from '../drivers/sign-on.js';
import { describeSigningIn } from '../drivers/signing-in.js';
import { pythonDriver } from './python-driver.js';

describeWith('python', 'sign-on in Python', (python) => {
  const driver = pythonDriver(python);
  describeSignOn(driver);
  describeSigningIn(driver);
});
