import { describeRead } from './read-suite.js';

const JOB_TITLES = ['Baker', 'Chef de partie "froid"', 'Ärztin 🌿'];

describeRead({
  operationId: 'listJobTitles',
  statuses: [200, 304, 400, 401, 404, 405, 406, 429, 500, 503],
  body: JOB_TITLES,
});
