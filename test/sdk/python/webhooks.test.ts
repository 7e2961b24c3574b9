import { describeWith } from '../../support/toolchains.js';
import { describeWebhooks } from '../drivers/webhooks.js';
import { pythonDriver } from './python-driver.js';

describeWith('python', 'webhooks in Python', (python) => {
  const driver = pythonDriver(python);
  describeWebhooks(driver);
});
