import { describeWith } from '../../support/toolchains.js';
import { describeReads, describeRealGateway } from '../drivers/reads.js';
import { goDriver } from './go-driver.js';

describeWith('go', 'the gateway in Go', (go) => {
  const driver = goDriver(go);
  describeReads(driver);
  describeRealGateway(driver);
});
