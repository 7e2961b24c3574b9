import { describeWith } from '../../support/toolchains.js';
import { describeSignOn } from '../drivers/sign-on.js';
import { describeSigningIn } from '../drivers/signing-in.js';
import { goDriver } from './go-driver.js';

describeWith('go', 'sign-on in Go', (go) => {
  const driver = goDriver(go);
  describeSignOn(driver);
  describeSigningIn(driver);
});
