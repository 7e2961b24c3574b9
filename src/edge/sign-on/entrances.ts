import type { Entrance } from '../../../generated/proto/integration/sign_on/v1/browser.js';

const PAIR = /^(app_[0-9A-Za-z]{22})\.(ins_[0-9A-Za-z]{22})$/;

/** As a page's address has them: `app_….ins_…`, separated by commas. */
export function entrancesText(entrances: readonly Entrance[]): string {
  return entrances.map(({ applicationId, instanceId }) => `${applicationId}.${instanceId}`).join(',');
}

/** Text of another shape names none. */
export function entrancesIn(text = ''): Entrance[] {
  return text.split(',').flatMap((pair) => {
    const [, applicationId, instanceId] = PAIR.exec(pair) ?? [];
    return applicationId && instanceId ? [{ applicationId, instanceId }] : [];
  });
}
