import { aClient } from '../../support/gateway/directory-answers.js';
import { describeRead } from './read-suite.js';

const [full, bare] = [aClient(), aClient({ name: 'Quillmere "Logistics" 🌿', location: {} })];

const nowhere = {
  address1: null,
  address2: null,
  city: null,
  isoCountryCode: null,
  postalCode: null,
  zoneCode: null,
};

describeRead({
  operationId: 'listClients',
  statuses: [200, 304, 400, 401, 404, 405, 406, 429, 500, 503],
  messages: [{ clients: [full, bare] }],
  body: [full, { ...bare, location: nowhere }],
});
