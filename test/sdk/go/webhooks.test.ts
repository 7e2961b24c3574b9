import { describeWith } from '../../support/toolchains.js';
import { describeWebhooks } from '../drivers/webhooks.js';
import { goDriver } from './go-driver.js';

describeWith('go', 'webhooks in Go', (go) => {
  const driver = goDriver(go);
  describeWebhooks(driver);
});
