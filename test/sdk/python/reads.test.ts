import { describeWith } from '../../support/toolchains.js';
import { describeReads, describeRealGateway } from '../drivers/reads.js';
import { pythonDriver } from './python-driver.js';

describeWith('python', 'the gateway in Python', (python) => {
  const driver = pythonDriver(python);
  describeReads(driver);
  describeRealGateway(driver);
});
