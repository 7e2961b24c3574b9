import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import type { Page } from 'playwright-core';
import type { GetDeliveryResponse } from '../../generated/proto/integration/webhooks/v1/deliveries.js';
import { queryNames, type WebhookRetryProgress } from '../../workflows/contract.js';
import type { DevServer } from '../../workflows/dev-server/start.js';
import { instanceIds } from '../flow/sign-on/demo-environment.js';
import { type Subscribed, webhookEnvironment } from '../flow/webhooks/webhook-environment.js';
import { chromiumVisits } from '../support/chromium.js';
import { eventually } from '../support/eventually.js';
import { describeWith } from '../support/toolchains.js';
import { answerWith } from '../support/webhooks/receiver.js';
import { freePort, startServer } from '../workflows/temporal-fixture.js';

const NAMESPACE = 'demo';
const SCREEN = { viewport: { width: 1440, height: 900 } };

async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder) {
    mkdirSync(folder, { recursive: true });
    await page.screenshot({ path: join(folder, `temporal-ui-${name}.png`) });
  }
}

describeWith('chromium', 'retries in the UI of Temporal', (chromium) => {
  describeWith('temporal', 'as who is on call sees them', (executable) => {
    const { visit } = chromiumVisits(chromium);
    let server: DevServer;
    beforeAll(async () => {
      server = await startServer(executable, { namespace: NAMESPACE, uiPort: await freePort() });
    });
    const environment = webhookEnvironment(() => ({
      env: { TEMPORAL_ADDRESS: server.address, WEBHOOK_RETRY_DELAYS: '1s,10m' },
    }));
    afterAll(() => server?.stop());

    let to: Subscribed;
    let tried: GetDeliveryResponse;

    beforeAll(async () => {
      const { demo } = environment;
      await demo.service.joinedTemporal();
      to = await demo.subscribe({ eventTypes: ['client.*'] }, answerWith(503));
      await demo.newClient(instanceIds.harborlight);
      const { delivery } = await demo.attempted(to);
      tried = await eventually('the second attempt', async () => {
        const log = await demo.delivery(delivery?.id ?? '');
        return log.attempts.length === 2 && log.delivery?.nextAttemptAt !== undefined && log;
      });
      await untilWorkflowKnows(tried);
    });

    /** The page shows what the workflow knew when it was opened; the database has the attempt earlier. */
    async function untilWorkflowKnows({ delivery }: GetDeliveryResponse): Promise<void> {
      const connection = await Connection.connect({ address: server.address });
      const { workflow } = new Client({ connection, namespace: NAMESPACE });
      const handle = workflow.getHandle(delivery?.retryWorkflowId ?? '');
      await eventually('the second attempt in the workflow', async () => {
        const { deliveries } = await handle.query<WebhookRetryProgress>(queryNames.progress);
        const known = deliveries.find(({ deliveryId }) => deliveryId === delivery?.id);
        return known?.attemptsBegun === 2 && known.nextAttemptAt !== null && known.lastAttempt !== null;
      });
      await connection.close();
    }

    test('a delivery that waits for its third attempt is found by its readable id, with what happened to it', async () => {
      const { id = '', retryWorkflowId = '', nextAttemptAt } = tried.delivery ?? {};
      expect(retryWorkflowId).toMatch(`webhook-retry/${to.subscription.id}/bat_`);
      const { page, complaints } = await visit(SCREEN);
      await page.goto(`${server.uiUrl}/namespaces/${NAMESPACE}/workflows`);
      const found = page.getByRole('row').filter({ hasText: retryWorkflowId });
      await found.getByText('Running').waitFor();
      await picture(page, 'list');

      await found.getByRole('link', { name: retryWorkflowId }).click();
      await page.getByText('Makes attempt 2 of 1 delivery').first().waitFor();
      await page.getByText('Until 1 delivery can be looked after').first().waitFor();
      await picture(page, 'history');

      await page.getByText('User Metadata').click();
      // The UI shows Markdown in separate frames.
      const [summary, details] = [page.frameLocator('iframe').first(), page.frameLocator('iframe').last()];
      await summary.getByText(`1 delivery to ${to.subscription.id} (client.created)`).waitFor();
      const row = details.getByRole('row').filter({ hasText: id });
      await row.waitFor();
      const due = nextAttemptAt?.toISOString().slice(0, 19).replace('T', ' ');
      expect(await row.getByRole('cell').allInnerTexts()).toEqual([
        id,
        'waits',
        '2 of 3',
        'answered 503',
        `${due}Z`,
      ]);
      // Whole, in a frame that has no more room than it takes.
      const frame = await page.locator('iframe').last().boundingBox();
      const shown = await row.boundingBox();
      const end = (box: typeof frame) => (box ? box.y + box.height : Number.NaN);
      expect(end(shown)).toBeLessThanOrEqual(end(frame));
      await picture(page, 'details');
      // What it says to the console is not ours to answer for.
      complaints.length = 0;
    });

    test('it is found by subscription and by type of event too', async () => {
      const { page, complaints } = await visit(SCREEN);
      const query = `SubscriptionId="${to.subscription.id}" AND EventTypes="client.created"`;
      await page.goto(`${server.uiUrl}/namespaces/${NAMESPACE}/workflows?query=${encodeURIComponent(query)}`);
      await page.getByRole('link', { name: tried.delivery?.retryWorkflowId ?? '' }).waitFor();
      expect(await page.getByRole('link', { name: /^(purge|signing-key)/ }).count()).toBe(0);
      complaints.length = 0;
    });
  });
});
