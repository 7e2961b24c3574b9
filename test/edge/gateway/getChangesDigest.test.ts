import { describeRead } from './read-suite.js';

describeRead({
  operationId: 'getChangesDigest',
  statuses: [200, 304, 400, 401, 404, 405, 406, 429, 500, 503],
  body: {
    clientId: 'cli_4Fqnh5226raKAAEIfY2jwW',
    entities: [{ type: 'worker', count: 2, digest: 4_503_599_627_370_495 }],
  },
});
