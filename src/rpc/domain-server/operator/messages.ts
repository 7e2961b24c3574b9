import { KeyStatus } from '../../../../generated/proto/integration/operator/v1/api_keys.js';
import { fromEnum, words } from '../words.js';

export const KEY_STATUSES = words(KeyStatus);

export const fromKeyStatus = fromEnum(KEY_STATUSES);
