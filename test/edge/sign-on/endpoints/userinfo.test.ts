import { describeUserinfo } from './userinfo-suite.js';

describeUserinfo('userinfo', 'GET', [200, 400, 401, 403, 405, 429, 500, 503]);
