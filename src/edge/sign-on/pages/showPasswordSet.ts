import { passwordSetPage } from '../../pages/endings.js';
import type { PageHandler } from '../sign-on-handler.js';
import { entrancesIn } from '../step.js';

export const showPasswordSet: PageHandler<'showPasswordSet'> = async (request, { pages, signOn }) => {
  const entrances = entrancesIn(request.query.entrances);
  if (entrances.length === 0) {
    return pages.page(passwordSetPage([]));
  }
  const { applications } = await signOn.showPasswordSet({ entrances }, { requestId: request.requestId });
  return pages.page(passwordSetPage(applications));
};
